/* System calls and processes, one definition to a name, with nothing around it: the counterpart of a
 * workload of the agent in C, or of a peer. Prints microseconds of one operation as lmbench does.
 *
 *   cc -O2 -static-pie -pthread calls*.c -o calls
 *   calls [-N TRIES] [-b US] [-f] [-m KIB] NAME [ARGUMENT ...]
 *
 * The median of batches of -b us, default ENOUGH of the environment or 5000; -f: the fastest one. -m:
 * with so much private memory more. With -DLMBENCH and lmbench.a, lmbench's harness takes the time
 * instead.
 */
#include "calls.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

char **arguments;
pid_t partner;
long number_of(int argument) { return arguments[argument] ? atol(arguments[argument]) : 0; }

static const struct call *const parts[] = {file_calls, handover_calls, memory_calls, process_calls,
                                           signal_calls};

static const struct call *named(const char *name) {
    for (unsigned part = 0; part < sizeof parts / sizeof *parts; part++)
        for (const struct call *one = parts[part]; one->name; one++)
            if (!strcmp(one->name, name))
                return one;
    return NULL;
}

static void add_memory(long kib) {
    char *memory = malloc(kib << 10);
    need(memory != NULL, "malloc");
    memset(memory, 1, kib << 10);
}

#ifdef LMBENCH
/* lmbench's bench.h */
typedef void (*benchmp_f)(unsigned long, void *);
extern void benchmp(benchmp_f, benchmp_f, benchmp_f, int, int, int, int, void *);
extern void micro(char *, unsigned long);
extern unsigned long get_n(void);

static void in_harness(unsigned long operations, void *one) {
    signal(SIGCHLD, SIG_DFL);
    ((const struct call *)one)->work(operations);
}

static void end_partner(unsigned long operations, void *one) {
    (void)one;
    if (!operations && partner)
        kill(partner, SIGKILL);
}

static void tell(const struct call *one, int tries, int fastest, double batch_ns) {
    need(!fastest, "lmbench takes the median");
    benchmp(NULL, in_harness, end_partner, (int)(batch_ns / 1e3), 1, 0, tries, (void *)one);
    micro((char *)one->name, get_n());
}
#else
static void tell(const struct call *one, int tries, int fastest, double batch_ns) {
    int rank = fastest ? 0 : (tries - 1) / 2;
    double ns = ranked_ns(one->work, tries, batch_ns, rank);
    if (one->less)
        ns = one->share * ns - ranked_ns(one->less, tries, batch_ns, rank);
    if (partner)
        kill(partner, SIGKILL);
    fprintf(stderr, "%s: %.6f microseconds\n", one->name, ns / 1e3);
}
#endif

int main(int argc, char **argv) {
    const char *enough = getenv("ENOUGH");
    double batch_us = enough ? atof(enough) : 5000;
    int tries = 11, fastest = 0, option;
    while ((option = getopt(argc, argv, "+N:b:fm:")) != -1) {
        if (option == 'N')
            tries = atoi(optarg);
        else if (option == 'b')
            batch_us = atof(optarg);
        else if (option == 'f')
            fastest = 1;
        else if (option == 'm')
            add_memory(atol(optarg));
        else
            optind = argc;
    }
    if (optind >= argc || tries < 1)
        return fprintf(stderr, "usage: calls [-N TRIES] [-b US] [-f] [-m KIB] "
                               "NAME [ARGUMENT ...]\n"),
               2;
    const struct call *one = named(argv[optind]);
    if (!one)
        return fprintf(stderr, "%s is no name\n", argv[optind]), 2;
    arguments = argv + optind + 1;
    tell(one, tries, fastest, batch_us * 1e3);
    return 0;
}
