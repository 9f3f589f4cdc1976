/* Loops over memory, one definition to a name: the twin of a workload of the agent, or of a peer.
 *
 *   cc -O2 -static -pthread memory.c -o memory
 *   memory OPERATION WIDTH BYTES THREADS        prints MB/s (random: millions of accesses/s)
 *
 * OPERATION read, write, copy: WIDTH is 64 (AVX-512), 8 (a word at a time) or 4; `random`: WIDTH 8.
 * lmbench's 4 of every 16 bytes: WIDTH 416. Batches of ENOUGH us, default 5000; median of 11, each the
 * sum of all threads' rates.
 */
#define _GNU_SOURCE
#include "timing.h"

#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

static const char *operation;
static int width;
static long bytes;
static pthread_barrier_t together;

#define AVX512 __attribute__((target("avx512f")))
#define KEEP(value) __asm__ volatile("" : : "r"(value) : "memory")

AVX512 static void pass_512(char *to, char *from) {
    __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
    if (operation[0] == 'r')
#pragma GCC unroll 4
        for (long i = 0; i < bytes; i += 256) {
            a = _mm512_xor_si512(a, _mm512_load_si512(from + i));
            b = _mm512_xor_si512(b, _mm512_load_si512(from + i + 64));
            c = _mm512_xor_si512(c, _mm512_load_si512(from + i + 128));
            d = _mm512_xor_si512(d, _mm512_load_si512(from + i + 192));
        }
    else if (operation[0] == 'w')
#pragma GCC unroll 16
        for (long i = 0; i < bytes; i += 64)
            _mm512_store_si512(to + i, a);
    else
#pragma GCC unroll 16
        for (long i = 0; i < bytes; i += 64)
            _mm512_store_si512(to + i, _mm512_load_si512(from + i));
    a = _mm512_xor_si512(_mm512_xor_si512(a, b), _mm512_xor_si512(c, d));
    KEEP(_mm512_reduce_add_epi64(a));
}

/* Volatile accesses: one instruction each, however the compiler feels about the loop. */
#define PASS(name, type, step)                                                   \
    static void name(char *to, char *from) {                                     \
        type sum = 0;                                                            \
        for (long i = 0; i < bytes; i += 16 * step) {                            \
            volatile type *t = (type *)(to + i), *f = (type *)(from + i);        \
            enum { each = step / sizeof(type) };                                 \
            if (operation[0] == 'r')                                             \
                sum += f[0] + f[each] + f[2 * each] + f[3 * each] + f[4 * each] + \
                       f[5 * each] + f[6 * each] + f[7 * each] + f[8 * each] +   \
                       f[9 * each] + f[10 * each] + f[11 * each] + f[12 * each] + \
                       f[13 * each] + f[14 * each] + f[15 * each];               \
            else                                                                 \
                for (int k = 0; k < 16; k++)                                     \
                    t[k * each] = operation[0] == 'w' ? 1 : f[k * each];         \
        }                                                                        \
        KEEP(sum);                                                               \
    }

PASS(pass_8, uint64_t, 8)
PASS(pass_4, uint32_t, 4)
PASS(pass_4_of_16, uint32_t, 16)

/* Four generators in turn; 4 accesses a turn (the agent's random loads). */
static void pass_random(char *to, char *from) {
    static _Thread_local uint64_t state[4] = {1, 2, 3, 4};
    uint64_t words = bytes / 8, sum = 0, *block = (uint64_t *)from;
    (void)to;
    for (long turn = 0; turn < 4096; turn++)
        for (int lane = 0; lane < 4; lane++) {
            state[lane] = state[lane] * 6364136223846793005u + 1442695040888963407u;
            sum += block[(state[lane] >> 32) * words >> 32];
        }
    KEEP(sum);
}

struct share {
    int cpu, tries;
    double enough, rates[64];
};

static void *work(void *argument) {
    struct share *share = argument;
    void (*pass)(char *, char *) = operation[1] == 'a' ? pass_random
                                   : width == 64       ? pass_512
                                   : width == 8        ? pass_8
                                   : width == 4        ? pass_4
                                                       : pass_4_of_16;
    char *to, *from;
    if (share->cpu >= 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(share->cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    need(!posix_memalign((void **)&to, 2 << 20, bytes), "memory");
    need(!posix_memalign((void **)&from, 2 << 20, bytes), "memory");
    memset(to, 1, bytes);
    memset(from, 2, bytes);
    for (int try = 0; try < share->tries; try++) {
        pthread_barrier_wait(&together);
        double start = now(), took;
        long passes = 0;
        do {
            for (long left = 1 + (64 << 10) / bytes; left > 0; left--, passes++)
                pass(to, from);
            took = now() - start;
        } while (took < share->enough);
        double units = operation[1] == 'a' ? 4 * 4096 : bytes;
        share->rates[try] = passes * units / took * 1e3;
    }
    return NULL;
}

int main(int argc, char **argv) {
    const char *enough = getenv("ENOUGH");
    if (argc != 5)
        return fprintf(stderr, "usage: memory OPERATION WIDTH BYTES THREADS\n"), 2;
    operation = argv[1];
    width = atoi(argv[2]);
    bytes = atol(argv[3]) / 256 * 256;
    int threads = atoi(argv[4]);
    struct share shares[64];
    pthread_t made[64];
    if (bytes < 256 || threads < 1 || threads > 64)
        return fprintf(stderr, "at least 256 bytes, and 1 to 64 threads\n"), 2;
    if (width == 64 && operation[1] != 'a' && !__builtin_cpu_supports("avx512f"))
        return fprintf(stderr, "this CPU has no AVX-512\n"), 1;
    pthread_barrier_init(&together, NULL, threads);
    for (int i = 0; i < threads; i++) {
        shares[i] = (struct share){.cpu = threads > 1 ? i : -1, .tries = 11};
        shares[i].enough = (enough ? atof(enough) : 5000) * 1e3;
        pthread_create(&made[i], NULL, work, &shares[i]);
    }
    double sums[11] = {0};
    for (int i = 0; i < threads; i++) {
        pthread_join(made[i], NULL);
        for (int try = 0; try < 11; try++)
            sums[try] += shares[i].rates[try];
    }
    qsort(sums, 11, sizeof *sums, by_value);
    printf("rate: %.3f\n", sums[5]);
    return 0;
}
