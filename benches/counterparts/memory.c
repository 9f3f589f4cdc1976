/* Loops over memory, one definition to a name: the counterpart of a workload of the agent, or of a peer.
 *
 *   cc -O2 -static -pthread memory.c -o memory
 *   memory OPERATION WIDTH BYTES THREADS        prints MB/s (random: millions of accesses/s; chase: ns)
 *
 * OPERATION read, write, copy: WIDTH is 64 (AVX-512), 65 (the same by the agent's own instructions instead
 * of the compiler's), 8 (a word at a time), 4, 416 (lmbench's 4 of every 16 bytes), 801 (sysbench's: a word
 * at a time, the block shared by all threads, which take passes over it from one count of 8 GiB and never
 * wait for each other) or 1 (copy by the C library's memcpy). `random`: four generators, in words of 8.
 * `chase`: each load gives the next one's address, through all lines in one random order; WIDTH 4096:
 * through all pages in one random order, again and again (lmbench's lat_mem_rd -t), and where RANGE is
 * greater than BYTES the pages are drawn from so many bytes, as in the peer's sweep up to them.
 * Where HUGE is set, huge pages back the blocks (MADV_HUGEPAGE), and anything else is an error.
 * Batches of ENOUGH us, default 5000; median of 11 (rings of pages: a single one), or where BEST is set
 * the greatest, each the sum of all threads' rates.
 */
#define _GNU_SOURCE
#include "timing.h"

#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

static const char *operation;
static int width;
static long bytes;
static pthread_barrier_t together;
static _Atomic int started, finished;
static _Atomic long left_to_share;

#define AVX512 __attribute__((target("avx512f")))
#define KEEP(value) __asm__ volatile("" : : "r"(value) : "memory")

/* All passes of a batch in one loop, so that a small block pays for no calls. Clobbered memory keeps
 * the passes apart: no pass may be left out, or moved over another. */
#define MEMORY __asm__ volatile("" : : : "memory")

AVX512 static void pass_512(char *to, char *from, long passes) {
    __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
    if (operation[0] == 'r')
        for (; passes > 0; passes--) {
#pragma GCC unroll 4
            for (long i = 0; i < bytes; i += 256) {
                a = _mm512_xor_si512(a, _mm512_load_si512(from + i));
                b = _mm512_xor_si512(b, _mm512_load_si512(from + i + 64));
                c = _mm512_xor_si512(c, _mm512_load_si512(from + i + 128));
                d = _mm512_xor_si512(d, _mm512_load_si512(from + i + 192));
            }
            MEMORY;
        }
    else if (operation[0] == 'w')
        for (; passes > 0; passes--) {
#pragma GCC unroll 16
            for (long i = 0; i < bytes; i += 64)
                _mm512_store_si512(to + i, a);
            MEMORY;
        }
    else
        for (; passes > 0; passes--) {
#pragma GCC unroll 16
            for (long i = 0; i < bytes; i += 64)
                _mm512_store_si512(to + i, _mm512_load_si512(from + i));
            MEMORY;
        }
    a = _mm512_xor_si512(_mm512_xor_si512(a, b), _mm512_xor_si512(c, d));
    KEEP(_mm512_reduce_add_epi64(a));
}

/* The agent's instructions (agent/crates/workloads/src/memory/kernels/x86_64/avx512.rs): a turn of 1 KiB whose
 * addresses are one register and constants. Blocks are whole turns. */
#define TURNS(body, ...)                                                              \
    __asm__ volatile(".p2align 5\n2:\n.irp d,0,512\n" body ".endr\n"                  \
                     "add $1024, %[from]\nadd $1024, %[to]\ndec %[left]\njnz 2b\n"    \
                     : [from] "+r"(f), [to] "+r"(t), [left] "+r"(left)                \
                     :                                                                \
                     : "memory", "cc", __VA_ARGS__)
#define PAIR_OF_LINES(at, next, sum, loaded)       \
    "vmovdqa64 \\d+" at "(%[from]), %%zmm" loaded "\n" \
    "vpternlogq $0x96, \\d+" next "(%[from]), %%zmm" loaded ", %%zmm" sum "\n"
#define LOADED(at, number) "vmovdqa64 \\d+" at "(%[from]), %%zmm" number "\n"
#define STORED(at, number) "vmovdqa64 %%zmm" number ", \\d+" at "(%[to])\n"

AVX512 static void pass_agent(char *to, char *from, long passes) {
    for (; passes > 0; passes--) {
        char *f = from, *t = to;
        long left = bytes / 1024;
        if (operation[0] == 'r')
            TURNS(PAIR_OF_LINES("0", "64", "0", "5") PAIR_OF_LINES("128", "192", "1", "6")
                  PAIR_OF_LINES("256", "320", "2", "7") PAIR_OF_LINES("384", "448", "3", "8"),
                  "xmm0", "xmm1", "xmm2", "xmm3", "xmm5", "xmm6", "xmm7", "xmm8");
        else if (operation[0] == 'w')
            TURNS(STORED("0", "0") STORED("64", "0") STORED("128", "0") STORED("192", "0")
                  STORED("256", "0") STORED("320", "0") STORED("384", "0") STORED("448", "0"), "xmm0");
        else
            TURNS(LOADED("0", "0") LOADED("64", "1") LOADED("128", "2") LOADED("192", "3")
                  LOADED("256", "4") LOADED("320", "5") LOADED("384", "6") LOADED("448", "7")
                  STORED("0", "0") STORED("64", "1") STORED("128", "2") STORED("192", "3")
                  STORED("256", "4") STORED("320", "5") STORED("384", "6") STORED("448", "7"),
                  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
    }
}

static void pass_memcpy(char *to, char *from, long passes) {
    for (; passes > 0; passes--) {
        memcpy(to, from, bytes);
        MEMORY;
    }
}

/* Ordinary accesses, unrolled; the compiler may neither join them to wider ones nor call memcpy. lmbench
 * has 512 bytes to a turn of its loop, and in a sum each load waits for the one before it. */
#define PLAIN                                                                                  \
    __attribute__((optimize("no-tree-vectorize", "no-tree-slp-vectorize", "no-store-merging", \
                            "no-tree-loop-distribute-patterns")))
#define FOUR(x, k) x(k) x(k + 1) x(k + 2) x(k + 3)
#define SIXTEEN(x, k) FOUR(x, k) FOUR(x, k + 4) FOUR(x, k + 8) FOUR(x, k + 12)
#define TERMS_16(x) SIXTEEN(x, 0)
#define TERMS_32(x) SIXTEEN(x, 0) SIXTEEN(x, 16)
#define TERMS_128(x)                                                       \
    SIXTEEN(x, 0) SIXTEEN(x, 16) SIXTEEN(x, 32) SIXTEEN(x, 48)             \
    SIXTEEN(x, 64) SIXTEEN(x, 80) SIXTEEN(x, 96) SIXTEEN(x, 112)
#define LOAD(k) +f[(k) * each]
#define STORE(k) t[(k) * each] = value;
/* bw_mem fwr assigns one word to the next, p[0] = p[1] = ... = 1: the last one is stored first. */
#define STORE_DOWN(k) t[127 - (k)] = value;
#define COPY(k) t[(k) * each] = f[(k) * each];
#define PASS(name, type, step, terms, store)                            \
    PLAIN static void name(char *to, char *from, long passes) {         \
        enum { each = step / sizeof(type), turn = terms * each };       \
        type sum = 0, *end = (type *)(from + bytes);                    \
        const char verb = operation[0];                                 \
        for (; passes > 0; passes--) {                                  \
            type *f = (type *)from, *t = (type *)to, value = passes;    \
            if (verb == 'r')                                            \
                for (; f < end; f += turn)                              \
                    sum += 0 TERMS_##terms(LOAD);                       \
            else if (verb == 'w')                                       \
                for (; f < end; f += turn, t += turn) {                 \
                    TERMS_##terms(store)                                \
                }                                                       \
            else                                                        \
                for (; f < end; f += turn, t += turn) {                 \
                    TERMS_##terms(COPY)                                 \
                }                                                       \
            MEMORY;                                                     \
        }                                                               \
        KEEP(sum);                                                      \
    }

PASS(pass_8, uint64_t, 8, 16, STORE)
PASS(pass_4, uint32_t, 4, 128, STORE_DOWN)
PASS(pass_4_of_16, uint32_t, 16, 32, STORE)

/* Words one by one, eight to a turn: how sysbench is compiled. */
static void pass_words(char *to, char *from, long passes) {
    for (; passes > 0; passes--) {
        volatile uint64_t *at = (uint64_t *)(operation[0] == 'r' ? from : to);
        volatile uint64_t *end = at + bytes / 8;
        if (operation[0] == 'r')
            for (; at < end; at += 8) {
#define READ(k) (void)at[k];
                FOUR(READ, 0) FOUR(READ, 4)
            }
        else
            for (; at < end; at += 8) {
#define WRITE(k) at[k] = passes;
                FOUR(WRITE, 0) FOUR(WRITE, 4)
            }
    }
}

/* Rings of lines, which begin at what is returned. `order` is a random permutation. */
static long *order(long count) {
    static uint64_t state = 1;
    long *made = malloc(count * sizeof *made);
    need(made != NULL, "memory");
    for (long i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        long other = (state >> 33) % (i + 1);
        made[i] = made[other];
        made[other] = i;
    }
    return made;
}

static char *ring_of_lines(char *block) {
    long lines = bytes / 64, *line = order(lines);
    for (long i = 0; i < lines; i++)
        *(char **)(block + 64 * line[i]) = block + 64 * line[(i + 1) % lines];
    free(line);
    return block;
}

/* Bytes that the pages of a block are drawn from. */
static long room(void) {
    long range = getenv("RANGE") && width == 4096 ? atol(getenv("RANGE")) : 0;
    return range > bytes ? range : bytes;
}

/* Round after round through all pages in the same order, at another line each time. */
static char *ring_of_pages(char *block) {
    long pages = bytes / 4096, *page = order(room() / 4096), *line = order(64);
    for (long round = 0; round < 64; round++)
        for (long i = 0; i < pages; i++) {
            long last = i == pages - 1;
            char *from = block + 4096 * page[i] + 64 * line[(i + round) % 64];
            char *to = block + 4096 * page[last ? 0 : i + 1] +
                       64 * line[((last ? 0 : i + 1) + round + last) % 64];
            *(char **)from = to;
        }
    char *first = block + 4096 * page[0] + 64 * line[0];
    free(page);
    free(line);
    return first;
}

static void pass_chase(char *to, char *from, long passes) {
    static _Thread_local char *at;
    (void)to;
    char **p = (char **)(at ? at : from);
    for (; passes > 0; passes--)
        for (long i = 0; i < 1024; i++)
            p = (char **)*p;
    at = (char *)p;
    KEEP(p);
}

/* Four generators in turn; 4 accesses a turn (the agent's random loads). */
static void pass_random(char *to, char *from, long passes) {
    static _Thread_local uint64_t state[4] = {1, 2, 3, 4};
    uint64_t words = bytes / 8, sum = 0, *block = (uint64_t *)from;
    uint64_t a = state[0], b = state[1], c = state[2], d = state[3];
    (void)to;
#define NEXT(x)                                               \
    x = x * 6364136223846793005u + 1442695040888963407u;      \
    sum += block[(x >> 32) * words >> 32]
    for (long turn = 0; turn < 4096 * passes; turn++) {
        NEXT(a);
        NEXT(b);
        NEXT(c);
        NEXT(d);
    }
    state[0] = a, state[1] = b, state[2] = c, state[3] = d;
    KEEP(sum);
}

#define SHARED_BYTES (8l << 30)

struct share {
    int cpu, threads, tries;
    double enough, rates[64];
};

static char *block(long length) {
    char *made = NULL;
    /* lmbench's blocks lie where malloc puts them, a page apart: a copy to a block at a distance of 2 MiB
     * takes 3 per cent longer. */
    if (length && (width == 416 || width == 4) && !getenv("HUGE"))
        need((made = valloc(length + 2048)) != NULL, "memory");
    else if (length) {
        need(!posix_memalign((void **)&made, 2 << 20, length), "memory");
        if (getenv("HUGE"))
            need(!madvise(made, length, MADV_HUGEPAGE), "huge pages");
    }
    return made;
}

static void *work(void *argument) {
    struct share *share = argument;
    int chase = operation[1] == 'h', random = operation[1] == 'a';
    void (*pass)(char *, char *, long) = chase           ? pass_chase
                                         : random        ? pass_random
                                         : width == 64   ? pass_512
                                         : width == 65   ? pass_agent
                                         : width == 1    ? pass_memcpy
                                         : width == 8    ? pass_8
                                         : width == 4    ? pass_4
                                         : width == 801  ? pass_words
                                                         : pass_4_of_16;
    static char *shared;
    char *to, *from;
    if (share->cpu >= 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(share->cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    to = block(width != 801 && (operation[0] == 'w' || operation[0] == 'c') && !chase ? bytes : 0);
    from = block(room());
    /* A ring of pages touches what it needs in its own order, as the peer's does. */
    if (width != 4096)
        memset(from, 2, bytes);
    if (to)
        memset(to, 1, bytes);
    if (chase)
        from = (width == 4096 ? ring_of_pages : ring_of_lines)(from);
    if (width == 801) {
        if (share->cpu <= 0)
            shared = from, left_to_share = SHARED_BYTES / bytes;
        pthread_barrier_wait(&together);
        long passes = 0;
        double start = now();
        for (; left_to_share-- > 0; passes++)
            pass(shared, shared, 1);
        for (int try = 0; try < share->tries; try++)
            share->rates[try] = passes * bytes / (now() - start) * 1e3;
        return NULL;
    }
    /* So many that reading the clock is lost among them. */
    long some = chase || random ? 16 : 1 + (4 << 20) / bytes;
    /* The peer takes one time, of whole rounds, after one round for which it takes none. */
    if (chase && width == 4096)
        some = 1 + bytes / 64 / 1024;
    /* lmbench looks for the length of a batch for as long: a shared cache fills in that time. */
    if (width != 4096)
        for (double begin = now(); now() < begin + 250e6;)
            pass(to, from, some);
    for (int try = 0; try < share->tries; try++) {
        pthread_barrier_wait(&together);
        /* As the agent does it, the time of a thread begins when all work and ends while all still do. */
        for (started++; started < (try + 1) * share->threads;)
            pass(to, from, some);
        double start = now(), took;
        long passes = 0;
        do {
            pass(to, from, some);
            passes += some;
            took = now() - start;
        } while (took < share->enough);
        for (finished++; finished < (try + 1) * share->threads;)
            pass(to, from, some);
        double units = random ? 4 * 4096 : bytes;
        share->rates[try] = chase ? took / (1024.0 * passes) : passes * units / took * 1e3;
    }
    return NULL;
}

int main(int argc, char **argv) {
    const char *enough = getenv("ENOUGH");
    if (argc != 5)
        return fprintf(stderr, "usage: memory OPERATION WIDTH BYTES THREADS\n"), 2;
    operation = argv[1];
    width = atoi(argv[2]);
    bytes = atol(argv[3]) / 1024 * 1024;
    int threads = atoi(argv[4]), tries = width == 4096 ? 1 : 11;
    struct share shares[64];
    pthread_t made[64];
    if (bytes < 1024 || threads < 1 || threads > 64)
        return fprintf(stderr, "at least 1024 bytes, and 1 to 64 threads\n"), 2;
    if ((width == 64 || width == 65) && !__builtin_cpu_supports("avx512f"))
        return fprintf(stderr, "this CPU has no AVX-512\n"), 1;
    pthread_barrier_init(&together, NULL, threads);
    for (int i = 0; i < threads; i++) {
        shares[i] = (struct share){.cpu = threads > 1 ? i : -1, .threads = threads, .tries = tries};
        shares[i].enough = (enough ? atof(enough) : 5000) * 1e3;
        pthread_create(&made[i], NULL, work, &shares[i]);
    }
    double sums[11] = {0};
    for (int i = 0; i < threads; i++) {
        pthread_join(made[i], NULL);
        for (int try = 0; try < tries; try++)
            sums[try] += shares[i].rates[try];
    }
    qsort(sums, tries, sizeof *sums, by_value);
    printf("rate: %.3f\n", sums[getenv("BEST") ? tries - 1 : tries / 2]);
    return 0;
}
