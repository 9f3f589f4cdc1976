/* Zstandard by the C library that is installed, with contexts that are used again: what cpu.compress and
 * cpu.decompress do with file_format = "zstd", and what `zstd -b3` does.
 *
 *   cc -O2 zstandard.c -o zstandard -lzstd
 *   zstandard FILE 0|1                  prints MB/s of level 3, to compress (0) or to restore (1)
 *
 * The best of seven batches of 50 ms.
 */
#include "timing.h"

#include <zstd.h>

static int restoring;
static size_t bytes, bound, small;
static char *plain, *packed, *restored;
static ZSTD_CCtx *pack;
static ZSTD_DCtx *restore;

static double work(long operations) {
    double start = now();
    for (long i = 0; i < operations; i++) {
        size_t made = restoring ? ZSTD_decompressDCtx(restore, restored, bytes, packed, small)
                                : ZSTD_compress2(pack, packed, bound, plain, bytes);
        need(made == (restoring ? bytes : small), "zstd");
    }
    return now() - start;
}

int main(int argc, char **argv) {
    FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
    if (!file)
        return fprintf(stderr, "usage: zstandard FILE 0|1\n"), 2;
    fseek(file, 0, SEEK_END);
    bytes = ftell(file), bound = ZSTD_compressBound(bytes);
    rewind(file);
    plain = malloc(bytes), packed = malloc(bound), restored = malloc(bytes);
    need(plain && packed && restored && fread(plain, 1, bytes, file) == bytes, argv[1]);
    pack = ZSTD_createCCtx();
    restore = ZSTD_createDCtx();
    ZSTD_CCtx_setParameter(pack, ZSTD_c_compressionLevel, 3);
    small = ZSTD_compress2(pack, packed, bound, plain, bytes);
    restoring = argv[2][0] == '1';
    printf("rate: %.3f\n", bytes / fastest_ns(work) * 1e3);
    return 0;
}
