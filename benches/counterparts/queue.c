/* disk.queue: blocks of 4 KiB at random places of a file, past the cache, with DEPTH requests under way
 * by io_uring.
 *
 *   cc -O2 queue.c -o queue
 *   queue FILE DEPTH together|single [deferred|timed|stamped] [write|copy|rewrite]
 *
 * It prints requests per second, and where times are kept three quantiles of them in ns.
 *
 * `together` hands all requests that became due to the kernel with one call and waits in the same, as
 * the agent does; `single` calls the kernel for each request and then to wait, as fio does by default.
 * `deferred`: what is over is told when the program asks and does not interrupt it, as fio sets up its
 * ring (IORING_SETUP_DEFER_TASKRUN); the agent sets no flag. `timed` keeps the time of every request,
 * `stamped` loads a word of every block that was read: each one thing that the agent does besides.
 * `write` writes the blocks, always the same bytes from each buffer; `copy` copies new ones to the buffer
 * before, out of 1 MiB as the agent does; `rewrite`: and before each pass the file is written through the
 * cache and its pages are dropped, as the agent makes its content known again.
 * Every block is read once in a pass; the first pass is not counted; the median of the next three.
 */
#define _GNU_SOURCE
#include "timing.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BLOCK 4096
#define WINDOW (1 << 20)

static int ring, timed, stamped, writing, copying, again;
static double *since, *took;
static unsigned long sum;
static char fresh[WINDOW];
static char *sq, *cq;
static struct io_uring_sqe *entries;
static struct io_uring_params set;

#define AT(base, offset) ((unsigned *)((base) + (offset)))

static void set_up(unsigned depth) {
    ring = (int)syscall(SYS_io_uring_setup, depth, &set);
    need(ring >= 0, "io_uring_setup");
    int protection = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_POPULATE;
    sq = mmap(NULL, set.sq_off.array + set.sq_entries * 4, protection, flags, ring,
              IORING_OFF_SQ_RING);
    cq = mmap(NULL, set.cq_off.cqes + set.cq_entries * sizeof(struct io_uring_cqe), protection, flags,
              ring, IORING_OFF_CQ_RING);
    entries = mmap(NULL, set.sq_entries * sizeof *entries, protection, flags, ring, IORING_OFF_SQES);
    need(sq != MAP_FAILED && cq != MAP_FAILED && (void *)entries != MAP_FAILED, "mmap");
}

static void put(int file, char *buffer, unsigned long place, unsigned slot) {
    unsigned tail = *AT(sq, set.sq_off.tail), index = tail & *AT(sq, set.sq_off.ring_mask);
    entries[index] = (struct io_uring_sqe){.opcode = writing ? IORING_OP_WRITE : IORING_OP_READ,
                                           .fd = file,
                                           .addr = (unsigned long)buffer,
                                           .len = BLOCK,
                                           .off = place,
                                           .user_data = slot};
    AT(sq, set.sq_off.array)[index] = index;
    __atomic_store_n(AT(sq, set.sq_off.tail), tail + 1, __ATOMIC_RELEASE);
}

static void enter(unsigned count, unsigned least) {
    long done = syscall(SYS_io_uring_enter, ring, count, least, IORING_ENTER_GETEVENTS, NULL, 0);
    need(done == count, "io_uring_enter");
}

/* Requests per second of one pass. */
static double pass(int file, char *buffers, unsigned depth, const unsigned *order, long blocks,
                   int together) {
    unsigned due = 0, slots[depth], free_slots = depth;
    long started = 0, done = 0;
    for (unsigned i = 0; i < depth; i++)
        slots[i] = i;
    double start = now();
    while (done < blocks) {
        while (free_slots && started < blocks) {
            unsigned slot = slots[--free_slots];
            unsigned long place = (unsigned long)order[started++] * BLOCK;
            char *buffer = buffers + (size_t)slot * BLOCK;
            if (copying) {
                memcpy(buffer, fresh + place % WINDOW, BLOCK);
                *(unsigned long *)buffer = place;
            }
            if (timed)
                since[slot] = now();
            put(file, buffer, place, slot);
            due++;
            if (!together)
                enter(1, 0), due = 0;
        }
        unsigned head = *AT(cq, set.cq_off.head);
        if (together || __atomic_load_n(AT(cq, set.cq_off.tail), __ATOMIC_ACQUIRE) == head)
            enter(due, 1);
        due = 0;
        unsigned tail = __atomic_load_n(AT(cq, set.cq_off.tail), __ATOMIC_ACQUIRE);
        double at = timed ? now() : 0;
        struct io_uring_cqe *over = (struct io_uring_cqe *)(cq + set.cq_off.cqes);
        for (; head != tail; head++, done++) {
            struct io_uring_cqe one = over[head & *AT(cq, set.cq_off.ring_mask)];
            need(one.res == BLOCK, "a request");
            slots[free_slots++] = (unsigned)one.user_data;
            if (timed)
                took[done] = at - since[one.user_data];
            if (stamped)
                sum += *(volatile unsigned long *)(buffers + one.user_data * BLOCK);
        }
        __atomic_store_n(AT(cq, set.cq_off.head), head, __ATOMIC_RELEASE);
    }
    return blocks / (now() - start) * 1e9;
}

/* Writes the whole file through the cache, waits until it is on the device and drops its pages. */
static void write_again(const char *path, long blocks) {
    int file = open(path, O_RDWR);
    need(file >= 0, path);
    for (long at = 0; at < blocks * BLOCK; at += WINDOW)
        need(pwrite(file, fresh, WINDOW, at) == WINDOW, "write");
    need(!fsync(file) && !posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED), "fsync");
    close(file);
}

int main(int argc, char **argv) {
    int file = argc >= 4 ? open(argv[1], O_RDWR | O_DIRECT) : -1;
    unsigned depth = argc >= 4 ? (unsigned)atol(argv[2]) : 0;
    if (file < 0 || !depth)
        return fprintf(stderr, "usage: queue FILE DEPTH together|single "
                               "[deferred|timed|stamped] [write|copy|rewrite]\n"), 2;
    long blocks = lseek(file, 0, SEEK_END) / BLOCK;
    unsigned *order = malloc(blocks * sizeof *order);
    char *buffers = aligned_alloc(BLOCK, (size_t)depth * BLOCK);
    since = calloc(depth, sizeof *since), took = calloc(blocks, sizeof *took);
    need(order && buffers && since && took, "memory");
    memset(buffers, 0, (size_t)depth * BLOCK);
    for (long i = 0; i < blocks; i++) {
        long other = rand() % (i + 1);
        order[i] = order[other];
        order[other] = (unsigned)i;
    }
    const char *also = argc > 4 ? argv[4] : "", *what = argc > 5 ? argv[5] : "";
    writing = *what != 0, copying = writing && strcmp(what, "write"), again = !strcmp(what, "rewrite");
    for (long i = 0; i < WINDOW; i++)
        fresh[i] = (char)rand();
    timed = !strcmp(also, "timed"), stamped = !strcmp(also, "stamped");
    if (!strcmp(also, "deferred"))
        set.flags = IORING_SETUP_COOP_TASKRUN | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
    set_up(depth);
    double rates[4];
    for (int i = 0; i < 4; i++) {
        if (again) {
            write_again(argv[1], blocks);
        }
        rates[i] = pass(file, buffers, depth, order, blocks, !strcmp(argv[3], "together"));
    }
    qsort(rates + 1, 3, sizeof *rates, by_value);
    printf("rate: %.3f\n", rates[2]);
    if (timed) {
        qsort(took, blocks, sizeof *took, by_value);
        printf("p50: %.0f\np99: %.0f\np99.9: %.0f\n", took[blocks / 2], took[blocks * 99 / 100],
               took[blocks * 999 / 1000]);
    }
    return 0;
}
