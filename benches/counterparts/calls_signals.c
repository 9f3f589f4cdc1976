/* Signals: installed, handled, and sent there and back. */
#include "calls.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile sig_atomic_t caught[2];
static void first(int s) { (void)s, caught[0]++; }
static void second(int s) { (void)s, caught[1]++; }

static void install(void (*handler)(int)) {
    struct sigaction new = {.sa_handler = handler}, old;
    sigemptyset(&new.sa_mask);
    sigaction(SIGUSR1, &new, &old);
}

/* As lat_sig has it: a structure that is not cleared, and there one handler. */
static void install_uncleared(void (*handler)(int)) {
    struct sigaction new, old;
    new.sa_handler = handler;
    sigemptyset(&new.sa_mask);
    new.sa_flags = 0;
    sigaction(SIGUSR1, &new, &old);
}

TIMED(install_one, install_uncleared(first))
TIMED(install_two_uncleared, install_uncleared(i % 2 ? first : second))
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

static void answer_signals(pid_t parent) {
    int s;
    for (;;) {
        sigwait(&only, &s);
        kill(parent, SIGUSR1);
    }
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

const struct call signal_calls[] = {
    {"install", install_one, NULL, 0},
    {"install_two", install_two, NULL, 0},
    {"install_two_uncleared", install_two_uncleared, NULL, 0},
    {"handle", handle, NULL, 0},
    /* lat_sig catch */
    {"handle_less_send", handle, send_nothing, 1},
    {"between", between, NULL, 0},
    {NULL, NULL, NULL, 0},
};
