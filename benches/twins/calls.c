/* System calls and processes, one definition to a name, with nothing around it: the twin of a
 * workload of the agent in C, or of a peer. Prints microseconds of one operation as lmbench does.
 *
 *   cc -O2 -static -pthread calls.c -o calls
 *   calls [-N tries] NAME [ARGUMENT ...]        batches of ENOUGH us, default 5000
 */
#define _GNU_SOURCE
#include "timing.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char **arguments;
static char *none[] = {NULL};
static long number_of(int i) { return arguments[i] ? atol(arguments[i]) : 0; }

/* A function that times a loop around `statement`. */
#define TIMED(name, statement)               \
    static double name(long operations) {    \
        double start = now();                \
        for (long i = 0; i < operations; i++) { \
            statement;                       \
        }                                    \
        return now() - start;                \
    }

/* The instruction itself, as the agent has it: the C library's syscall() moves six registers first. */
#ifdef __x86_64__
static inline long bare_getpid(void) {
    long result;
    __asm__ volatile("mov %1, %%eax\n\tsyscall"
                     : "=a"(result)
                     : "i"(SYS_getpid)
                     : "rcx", "r11");
    return result;
}
#else
#define bare_getpid() syscall(SYS_getpid)
#endif
TIMED(call_getpid, need(bare_getpid() > 1, "getpid"))
/* By the C library, as lat_syscall calls it. */
TIMED(call_getppid, getppid())
TIMED(open_close, close(open(arguments[0], O_RDONLY)))

static void reap(pid_t child, int expected) {
    int status;
    need(child > 0 && waitpid(child, &status, 0) == child, "waitpid");
    if (WEXITSTATUS(status) != expected) {
        fprintf(stderr, "the child ended with %x\n", status);
        exit(1);
    }
}

static pid_t start_exit(void) {
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    return child;
}

/* As lat_proc's child ends: the C library's handlers run. */
static pid_t start_handlers(void) {
    pid_t child = fork();
    if (child == 0)
        exit(0);
    return child;
}

/* fork KIB: so much private memory is there for the child to share. */
static double fork_exit(long operations) {
    static char *memory;
    if (!memory && number_of(0)) {
        memory = malloc(number_of(0) << 10);
        memset(memory, 1, number_of(0) << 10);
    }
    double start = now();
    for (long i = 0; i < operations; i++)
        reap(start_exit(), 0);
    return now() - start;
}

static pid_t start_exec(void) {
    pid_t child = fork();
    if (child == 0) {
        execve(arguments[0], (char *[]){arguments[0], arguments[1], NULL}, none);
        _exit(1);
    }
    return child;
}

static pid_t start_spawn(void) {
    pid_t child = -1;
    char *argv[] = {arguments[0], arguments[1], NULL};
    posix_spawn(&child, arguments[0], NULL, NULL, argv, none);
    return child;
}

TIMED(fork_handlers, reap(start_handlers(), 0))
TIMED(fork_exec, reap(start_exec(), (int)number_of(2)))
TIMED(spawn, reap(start_spawn(), (int)number_of(2)))

static volatile sig_atomic_t caught[2];
static void first(int s) { (void)s, caught[0]++; }
static void second(int s) { (void)s, caught[1]++; }

static void install(void (*handler)(int)) {
    struct sigaction new = {.sa_handler = handler}, old;
    sigemptyset(&new.sa_mask);
    sigaction(SIGUSR1, &new, &old);
}


/* As lat_sig has it: one handler, and a structure that is not cleared. */
static void install_again(void) {
    struct sigaction new, old;
    new.sa_handler = first;
    sigemptyset(&new.sa_mask);
    new.sa_flags = 0;
    sigaction(SIGUSR1, &new, &old);
}

TIMED(install_one, install_again())
TIMED(install_two, install(i % 2 ? first : second))

static double send_nothing(long operations) {
    pid_t own = getpid();
    double start = now();
    for (long i = 0; i < operations; i++)
        kill(own, 0);
    return now() - start;
}

static double handle(long operations) {
    pid_t own = getpid();
    install(first);
    long before = caught[0];
    double start = now();
    for (long i = 0; i < operations; i++)
        kill(own, SIGUSR1);
    double took = now() - start;
    need(caught[0] - before == operations, "signals");
    return took;
}

static sigset_t only;
static pid_t partner;
static int there[2], back[2];

static void answer_signals(pid_t parent) {
    int s;
    for (;;) {
        sigwait(&only, &s);
        kill(parent, SIGUSR1);
    }
}

static void answer_bytes(void) {
    char byte;
    while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
        ;
}

static double between(long operations) {
    int s;
    if (!partner) {
        pid_t parent = getpid();
        sigemptyset(&only);
        sigaddset(&only, SIGUSR1);
        sigprocmask(SIG_BLOCK, &only, NULL);
        partner = fork();
        if (partner == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            answer_signals(parent);
        }
    }
    double start = now();
    for (long i = 0; i < operations; i++) {
        kill(partner, SIGUSR1);
        sigwait(&only, &s);
    }
    return now() - start;
}

static double trips(long operations) {
    char byte = 0;
    double start = now();
    for (long i = 0; i < operations; i++)
        need(write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1, "pipe");
    return now() - start;
}

static double pipe_processes(long operations) {
    if (!partner) {
        need(!pipe(there) && !pipe(back), "pipe");
        partner = fork();
        if (partner == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            answer_bytes();
            _exit(0);
        }
    }
    return trips(operations);
}

static void *answer_in_thread(void *unused) {
    answer_bytes();
    return unused;
}

static double pipe_threads(long operations) {
    static pthread_t thread;
    if (!thread) {
        need(!pipe(there) && !pipe(back), "pipe");
        pthread_create(&thread, NULL, answer_in_thread, NULL);
    }
    return trips(operations);
}

/* one_way ROOM: bytes one by one through a pipe of so many bytes (0: the system's), without an answer,
 * always the pipe's room several times over. With a room, every byte is a packet of its own (O_DIRECT)
 * and fills one of the room's pages: of one page, every byte is waited for. */
static double one_way(long operations) {
    static int started;
    char byte = 0;
    if (!started++) {
        need(!pipe2(there, number_of(0) ? O_DIRECT : 0), "pipe");
        if (number_of(0))
            need(fcntl(there[1], F_SETPIPE_SZ, number_of(0)) >= 0, "F_SETPIPE_SZ");
        partner = fork();
        if (partner == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            while (read(there[0], &byte, 1) == 1)
                ;
            _exit(0);
        }
    }
    long least = number_of(0) ? 1 : 1 << 18;
    long whole = (operations + least - 1) / least * least;
    double start = now();
    for (long i = 0; i < whole; i++)
        need(write(there[1], &byte, 1) == 1, "pipe");
    return (now() - start) * operations / whole;
}

/* lat_ctx's overhead: a byte into a pipe and out again by the same process. */
static double pipe_alone(long operations) {
    static int own[2];
    char byte = 0;
    if (!own[1])
        need(!pipe(own), "pipe");
    double start = now();
    for (long i = 0; i < operations; i++)
        need(write(own[1], &byte, 1) == 1 && read(own[0], &byte, 1) == 1, "pipe");
    return now() - start;
}

static _Atomic uint32_t word;

static void pass_on(uint32_t value) {
    atomic_store(&word, value);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *answer_futex(void *unused) {
    for (;;) {
        uint32_t value = atomic_load(&word);
        if (value % 2)
            pass_on(value + 1);
        else
            syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
    }
    return unused;
}

static double futex(long operations) {
    static pthread_t thread;
    if (!thread)
        pthread_create(&thread, NULL, answer_futex, NULL);
    double start = now();
    for (long i = 0; i < operations; i++) {
        uint32_t odd = atomic_load(&word) + 1;
        pass_on(odd);
        while (atomic_load(&word) != odd + 1)
            syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, odd, NULL, NULL, 0);
    }
    return now() - start;
}

/* The same by the protocol of Rust's thread::park and unpark: a word for each thread, which says empty,
 * notified or parked, so that only a parked thread costs a system call. */
static int words[2];
static volatile long whose;

static void park(int me) {
    if (__atomic_fetch_sub(&words[me], 1, __ATOMIC_ACQUIRE) == 1)
        return;
    for (;;) {
        syscall(SYS_futex, &words[me], FUTEX_WAIT_PRIVATE, -1, NULL, NULL, 0);
        int notified = 1;
        if (__atomic_compare_exchange_n(&words[me], &notified, 0, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE))
            return;
    }
}

static void unpark(int other) {
    if (__atomic_exchange_n(&words[other], 1, __ATOMIC_RELEASE) == -1)
        syscall(SYS_futex, &words[other], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void hand_over(int me) {
    while (__atomic_load_n(&whose, __ATOMIC_ACQUIRE) != me)
        park(me);
    __atomic_store_n(&whose, !me, __ATOMIC_RELEASE);
    unpark(!me);
}

static void *answer_parked(void *unused) {
    for (;;)
        hand_over(1);
    return unused;
}

static double parked(long operations) {
    static pthread_t thread;
    if (!thread)
        pthread_create(&thread, NULL, answer_parked, NULL);
    double start = now();
    for (long i = 0; i < operations; i++)
        hand_over(0);
    return now() - start;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t turn;

static void take(unsigned parity) {
    pthread_mutex_lock(&lock);
    while (turn % 2 != parity)
        pthread_cond_wait(&changed, &lock);
    turn++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void *answer_condition(void *unused) {
    for (;;)
        take(1);
    return unused;
}

static double condition(long operations) {
    static pthread_t thread;
    if (!thread)
        pthread_create(&thread, NULL, answer_condition, NULL);
    double start = now();
    for (long i = 0; i < operations; i++)
        take(0);
    return now() - start;
}

#ifdef LOCAL_BYTES
/* As much memory for each thread as the agent's threads have. */
_Thread_local volatile char local_memory[LOCAL_BYTES];
#endif

static void *inverted(void *value) { return (void *)~(uintptr_t)value; }

static double thread(long operations) {
    pthread_attr_t attributes;
    void *result;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    double start = now();
    for (long i = 0; i < operations; i++) {
        pthread_t made;
        need(!pthread_create(&made, &attributes, inverted, (void *)i), "pthread_create");
        pthread_join(made, &result);
        need(result == (void *)~(uintptr_t)i, "result");
    }
    return now() - start;
}

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

TIMED(create_delete, {
    close(open("made", O_RDWR | O_CREAT, 0644));
    unlink("made");
})

/* A name with `less` is a difference: its share of `work`, less the other. */
static const struct {
    const char *name;
    double (*work)(long);
    double (*less)(long);
    double share;
} names[] = {
    {"getpid", call_getpid, NULL, 0},
    {"getppid", call_getppid, NULL, 0},
    {"open", open_close, NULL, 0},
    {"fork", fork_exit, NULL, 0},
    {"fork_handlers", fork_handlers, NULL, 0},
    {"exec", fork_exec, NULL, 0},
    {"spawn", spawn, NULL, 0},
    {"install", install_one, NULL, 0},
    {"install_two", install_two, NULL, 0},
    {"handle", handle, NULL, 0},
    /* lat_sig catch */
    {"handle_less_send", handle, send_nothing, 1},
    {"between", between, NULL, 0},
    {"pipe", pipe_processes, NULL, 0},
    {"pipe_threads", pipe_threads, NULL, 0},
    /* lat_ctx of two processes: half a round trip, less a byte through a pipe without a switch */
    {"context", pipe_processes, pipe_alone, 0.5},
    {"one_way", one_way, NULL, 0},
    {"futex", futex, NULL, 0},
    {"parked", parked, NULL, 0},
    {"condition", condition, NULL, 0},
    {"thread", thread, NULL, 0},
    {"map", map, NULL, 0},
    {"fault", fault, NULL, 0},
    {"fault_file", fault_file, unread, 1},
    {"create_delete", create_delete, NULL, 0},
};

int main(int argc, char **argv) {
    int tries = 11, i = 1;
    const char *enough = getenv("ENOUGH");
    if (argc > 2 && !strcmp(argv[1], "-N")) {
        tries = atoi(argv[2]);
        i = 3;
    }
    if (i >= argc || tries < 1)
        return fprintf(stderr, "usage: calls [-N tries] NAME [ARGUMENT ...]\n"), 2;
    arguments = argv + i + 1;
    for (unsigned n = 0; n < sizeof names / sizeof *names; n++) {
        if (strcmp(names[n].name, argv[i]))
            continue;
        double batch_ns = (enough ? atof(enough) : 5000) * 1e3;
        double ns = names[n].less ? names[n].share * median_ns(names[n].work, tries, batch_ns) -
                                        median_ns(names[n].less, tries, batch_ns)
                                  : median_ns(names[n].work, tries, batch_ns);
        if (partner)
            kill(partner, SIGKILL);
        fprintf(stderr, "%s: %.6f microseconds\n", names[n].name, ns / 1e3);
        return 0;
    }
    return fprintf(stderr, "%s is no name\n", argv[i]), 2;
}
