/* Mappings and page faults. */
#include "calls.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* map FILE BYTES TOUCHED [STRIDE]: FILE `-` is new private memory; every page, or every STRIDE
 * bytes, of the first TOUCHED bytes is written to. */
static double map(long operations) {
    static int file = -2;
    if (file == -2)
        file = strcmp(arguments[0], "-") ? open(arguments[0], O_RDWR) : -1;
    long bytes = number_of(1), touched = number_of(2);
    long stride = touched && number_of(3) ? number_of(3) : 4096;
    int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    double start = now();
    for (long i = 0; i < operations; i++) {
        char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
        need(at != MAP_FAILED, "mmap");
        for (long byte = 0; byte < touched; byte += stride)
            ((volatile char *)at)[byte] = (char)i;
        munmap(at, bytes);
    }
    return now() - start;
}

/* fault PAGES: first writes to new private memory without huge pages. */
static double fault(long operations) {
    static char *memory;
    static long pages;
    if (!memory) {
        pages = number_of(0);
        memory = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        need(memory != MAP_FAILED, "mmap");
        madvise(memory, pages * 4096, MADV_NOHUGEPAGE);
    }
    double took = 0;
    for (long left = operations; left > 0; left -= pages) {
        long count = left < pages ? left : pages;
        madvise(memory, pages * 4096, MADV_DONTNEED);
        double start = now();
        for (long page = 0; page < count; page++)
            ((volatile char *)memory)[page * 4096] = 1;
        took += now() - start;
    }
    return took;
}

/* fault_file FILE: lat_pagefault's: map a cached file, read its pages in random order, unmap; less the
 * same without the reads (unread). */
static double through_file(long operations, int reading) {
    static int file = -1;
    static long pages, *order;
    if (file < 0) {
        file = open(arguments[0], O_RDONLY);
        need(file >= 0, arguments[0]);
        pages = lseek(file, 0, SEEK_END) / 4096;
        order = malloc(pages * sizeof *order);
        for (long i = 0; i < pages; i++) {
            long other = rand() % (i + 1);
            order[i] = order[other];
            order[other] = i * 4096;
        }
    }
    double start = now();
    long rounds = (operations + pages - 1) / pages;
    for (long round = 0; round < rounds; round++) {
        volatile char *at = mmap(NULL, pages * 4096, PROT_READ, MAP_SHARED, file, 0);
        need(at != MAP_FAILED, "mmap");
        msync((void *)at, pages * 4096, MS_INVALIDATE);
        for (long i = 0; reading && i < pages; i++)
            at[order[i]];
        munmap((void *)at, pages * 4096);
    }
    return (now() - start) * operations / (rounds * pages);
}

static double fault_file(long operations) { return through_file(operations, 1); }
static double unread(long operations) { return through_file(operations, 0); }

const struct call memory_calls[] = {
    {"map", map, NULL, 0},
    {"fault", fault, NULL, 0},
    {"fault_file", fault_file, unread, 1},
    {NULL, NULL, NULL, 0},
};
