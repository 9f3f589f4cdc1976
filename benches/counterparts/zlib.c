/* The zlib format at level 6 by zlib-ng's own library, with a new stream in each call and buffers that are
 * used again: what cpu.compress and cpu.decompress do with file_format = "zlib".
 *
 *   cc -O2 zlib.c -o zlib -lz-ng
 *   zlib FILE 0|1 [PACKED]              prints MB/s of FILE, to compress (0) or to restore (1)
 *
 * What is restored is this library's own work, or PACKED. The best of seven batches of 50 ms.
 */
#include "timing.h"

#include <string.h>
#include <zlib-ng.h>

static uint8_t *contents(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    need(file != NULL, path);
    fseek(file, 0, SEEK_END);
    *bytes = ftell(file);
    rewind(file);
    uint8_t *all = malloc(*bytes);
    need(all && fread(all, 1, *bytes, file) == *bytes, path);
    return all;
}

static size_t pack(uint8_t *from, size_t bytes, uint8_t *to, size_t room) {
    zng_stream stream = {.next_in = from, .next_out = to};
    need(zng_deflateInit(&stream, 6) == Z_OK, "zng_deflateInit");
    stream.avail_in = (uint32_t)bytes, stream.avail_out = (uint32_t)room;
    need(zng_deflate(&stream, Z_FINISH) == Z_STREAM_END, "zng_deflate");
    zng_deflateEnd(&stream);
    return stream.total_out;
}

static size_t restore(uint8_t *from, size_t bytes, uint8_t *to, size_t room) {
    zng_stream stream = {.next_in = from, .next_out = to};
    need(zng_inflateInit(&stream) == Z_OK, "zng_inflateInit");
    stream.avail_in = (uint32_t)bytes, stream.avail_out = (uint32_t)room;
    need(zng_inflate(&stream, Z_FINISH) == Z_STREAM_END, "zng_inflate");
    zng_inflateEnd(&stream);
    return stream.total_out;
}

static int restoring;
static size_t bytes, small, room;
static uint8_t *plain, *packed, *restored;

static double work(long operations) {
    double start = now();
    for (long i = 0; i < operations; i++) {
        size_t made = restoring ? restore(packed, small, restored, bytes)
                                : pack(plain, bytes, packed, room);
        need(made == (restoring ? bytes : small), "zlib-ng");
    }
    return now() - start;
}

int main(int argc, char **argv) {
    if (argc < 3)
        return fprintf(stderr, "usage: zlib FILE 0|1 [PACKED]\n"), 2;
    plain = contents(argv[1], &bytes), restored = malloc(bytes);
    room = zng_compressBound(bytes), packed = malloc(room);
    need(packed && restored, "malloc");
    small = pack(plain, bytes, packed, room);
    if (argc > 3)
        packed = contents(argv[3], &small);
    restoring = argv[2][0] == '1';
    double fastest = fastest_ns(work);
    need(!restoring || !memcmp(plain, restored, bytes), "content");
    printf("rate: %.3f\n", bytes / fastest * 1e3);
    return 0;
}
