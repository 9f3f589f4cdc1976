/* Zstandard by the C library that is installed, with contexts that are used again: what cpu.compress and
 * cpu.decompress do with file_format = "zstd", and what `zstd -b3` does.
 *
 *   cc -O2 zstandard.c -o zstandard -lzstd
 *   zstandard FILE 0|1                  prints MB/s of level 3, to compress (0) or to restore (1)
 *
 * The best of half a second.
 */
#include "timing.h"

#include <zstd.h>

int main(int argc, char **argv) {
    FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
    if (!file)
        return fprintf(stderr, "usage: zstandard FILE 0|1\n"), 2;
    fseek(file, 0, SEEK_END);
    size_t bytes = ftell(file), bound = ZSTD_compressBound(bytes);
    rewind(file);
    char *plain = malloc(bytes), *packed = malloc(bound), *restored = malloc(bytes);
    need(plain && packed && restored && fread(plain, 1, bytes, file) == bytes, argv[1]);
    ZSTD_CCtx *pack = ZSTD_createCCtx();
    ZSTD_DCtx *restore = ZSTD_createDCtx();
    ZSTD_CCtx_setParameter(pack, ZSTD_c_compressionLevel, 3);
    size_t small = ZSTD_compress2(pack, packed, bound, plain, bytes);
    double limit = now() + 5e8, best = 1e18;
    while (now() < limit) {
        double start = now();
        size_t made = argv[2][0] == '0' ? ZSTD_compress2(pack, packed, bound, plain, bytes)
                                        : ZSTD_decompressDCtx(restore, restored, bytes, packed, small);
        double took = now() - start;
        need(made == (argv[2][0] == '0' ? small : bytes), "zstd");
        best = took < best ? took : best;
    }
    printf("rate: %.3f\n", bytes / best * 1e3);
    return 0;
}
