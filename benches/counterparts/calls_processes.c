/* Processes and threads that are started and waited for. */
#include "calls.h"

#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef LMBENCH
extern int handle_scheduler(int, int, int);
extern int benchmp_childid(void);
#endif

static char *none[] = {NULL};

/* More than the neighbours that the kernel maps with a page. */
#define APART (128 << 10)

static void reap(pid_t child, int expected) {
    int status;
    need(child > 0 && waitpid(child, &status, 0) == child, "waitpid");
    if (WEXITSTATUS(status) != expected) {
        fprintf(stderr, "the child ended with %x\n", status);
        exit(1);
    }
}

/* fork [PAGES FILE]: the child reads so many pages of a mapped file, each of which is a page fault,
 * because a fork does not copy what can be read again. */
static pid_t start_exit(void) {
    static volatile char *mapped;
    if (!mapped && number_of(0)) {
        int file = open(arguments[1], O_RDONLY);
        mapped = mmap(NULL, number_of(0) * APART, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
        need(file >= 0 && mapped != MAP_FAILED, arguments[1]);
    }
    pid_t child = fork();
    if (child == 0) {
        for (long page = 0; page < number_of(0); page++)
            mapped[page * APART];
        _exit(0);
    }
    return child;
}

/* As lat_proc's child ends: the C library's handlers run. In lmbench's harness a child asks first where
 * it is to run, which costs it four page faults. */
static pid_t start_handlers(void) {
    pid_t child = fork();
    if (child == 0) {
#ifdef LMBENCH
        handle_scheduler(benchmp_childid(), 1, 1);
#endif
        exit(0);
    }
    return child;
}

static pid_t start_exec(void) {
    pid_t child = fork();
    if (child == 0) {
#ifdef LMBENCH
        handle_scheduler(benchmp_childid(), 1, 1);
        close(1);
#endif
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

TIMED(fork_exit, reap(start_exit(), 0))
TIMED(fork_handlers, reap(start_handlers(), 0))
TIMED(fork_exec, reap(start_exec(), (int)number_of(2)))
TIMED(spawn, reap(start_spawn(), (int)number_of(2)))

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

const struct call process_calls[] = {
    {"fork", fork_exit, NULL, 0},
    {"fork_handlers", fork_handlers, NULL, 0},
    {"exec", fork_exec, NULL, 0},
    {"spawn", spawn, NULL, 0},
    {"thread", thread, NULL, 0},
    {NULL, NULL, NULL, 0},
};
