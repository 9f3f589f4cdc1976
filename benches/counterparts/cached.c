/* disk.buffered with method = "cached", and fio's job for the same: one block of a file is read again
 * and again from the cache.
 *
 *   cc -O2 cached.c -o cached
 *   cached FILE MIB kept|dropped             prints MB/s of reads of the first 64 KiB
 *
 * The file is written in parts of 1 MiB and on the device before. Its pages stay in the cache as they
 * were written, or are dropped, so that reading brings them back. The buffer begins at
 * a page, as the agent's. The median of 3 times half a second.
 */
#define _GNU_SOURCE
#include "timing.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define BLOCK (64 << 10)
#define PART (1 << 20)

int main(int argc, char **argv) {
    if (argc != 4)
        return fprintf(stderr, "usage: cached FILE MIB kept|dropped\n"), 2;
    int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
    char *part = aligned_alloc(4096, PART), *buffer = aligned_alloc(4096, BLOCK);
    need(file >= 0 && part && buffer, argv[1]);
    for (int i = 0; i < PART; i++)
        part[i] = (char)(i * 2654435761u >> 24);
    for (long i = 0; i < atol(argv[2]); i++)
        need(pwrite(file, part, PART, i << 20) == PART, "write");
    need(!fsync(file), "fsync");
    if (!strcmp(argv[3], "dropped"))
        need(!posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED), "posix_fadvise");
    need(pread(file, buffer, BLOCK, 0) == BLOCK, "read");
    double rates[3];
    for (int i = 0; i < 3; i++) {
        double start = now(), took;
        long reads = 0;
        do {
            for (int k = 0; k < 4; k++, reads++)
                need(pread(file, buffer, BLOCK, 0) == BLOCK, "read");
            took = now() - start;
        } while (took < 5e8);
        rates[i] = (double)reads * BLOCK / took * 1e3;
    }
    need(!memcmp(buffer, part, BLOCK), "content");
    qsort(rates, 3, sizeof *rates, by_value);
    printf("rate: %.3f\n", rates[1]);
    unlink(argv[1]);
    return 0;
}
