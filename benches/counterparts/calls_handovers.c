/* Who is next: hand-overs between processes and threads by pipe, futex and condition. */
#include "calls.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int there[2], back[2];

static void answer_bytes(void) {
    char byte;
    while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
        ;
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

/* As perf bench sched pipe has it: tokens of four bytes, and the time goes from before the fork to the
 * end of the other process. */
static double pipe_from_fork(long operations) {
    int token = 0;
    need(!pipe(there) && !pipe(back), "pipe");
    double start = now();
    pid_t other = fork();
    for (long i = 0; i < operations; i++)
        need(other ? write(there[1], &token, 4) == 4 && read(back[0], &token, 4) == 4
                   : read(there[0], &token, 4) == 4 && write(back[1], &token, 4) == 4,
             "pipe");
    if (other == 0)
        exit(0);
    need(waitpid(other, NULL, 0) == other, "waitpid");
    double took = now() - start;
    for (int i = 0; i < 2; i++)
        close(there[i]), close(back[i]);
    return took;
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

static void hand_over(unsigned me) {
    while (__atomic_load_n(&whose, __ATOMIC_ACQUIRE) != me)
        park(me);
    __atomic_store_n(&whose, !me, __ATOMIC_RELEASE);
    unpark(!me);
}

/* Half of the turns are those of a thread that answers for ever. A process runs one call, so one
   thread is enough. */
static double with_answers(void *(*answer)(void *), void (*turn_of)(unsigned), long operations) {
    static pthread_t thread;
    if (!thread)
        pthread_create(&thread, NULL, answer, NULL);
    double start = now();
    for (long i = 0; i < operations; i++)
        turn_of(0);
    return now() - start;
}

static void *answer_parked(void *unused) {
    for (;;)
        hand_over(1);
    return unused;
}

static double parked(long operations) {
    return with_answers(answer_parked, hand_over, operations);
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
    return with_answers(answer_condition, take, operations);
}

const struct call handover_calls[] = {
    {"pipe", pipe_processes, NULL, 0},
    {"pipe_threads", pipe_threads, NULL, 0},
    {"pipe_from_fork", pipe_from_fork, NULL, 0},
    /* lat_ctx of two processes: half a round trip, less a byte through a pipe without a switch */
    {"context", pipe_processes, pipe_alone, 0.5},
    {"one_way", one_way, NULL, 0},
    {"futex", futex, NULL, 0},
    {"parked", parked, NULL, 0},
    {"condition", condition, NULL, 0},
    {NULL, NULL, NULL, 0},
};
