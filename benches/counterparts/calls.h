/* What the parts of calls.c share. */
#ifndef CALLS_H
#define CALLS_H

#define _GNU_SOURCE
#include "timing.h"

#include <sys/types.h>

/* One definition. With `less` it is a difference: its share of `work`, less the other. Both do so
 * many operations and return how long these took, in ns. */
struct call {
    const char *name;
    double (*work)(long);
    double (*less)(long);
    double share;
};

extern const struct call file_calls[], handover_calls[], memory_calls[], process_calls[],
    signal_calls[];

/* The arguments behind the name; and the process at the other end, which goes with this one. */
extern char **arguments;
extern pid_t partner;
long number_of(int argument);

/* A function that times a loop around `statement`. */
#define TIMED(name, statement)                  \
    static double name(long operations) {       \
        double start = now();                   \
        for (long i = 0; i < operations; i++) { \
            statement;                          \
        }                                       \
        return now() - start;                   \
    }

#endif
