/* What the counterparts have in common: batches of a given length, and the median of several of them. */
#ifndef TIMING_H
#define TIMING_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((unused)) static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

__attribute__((unused)) static void need(int true_of, const char *what) {
    if (!true_of) {
        perror(what);
        exit(1);
    }
}

__attribute__((unused)) static int by_value(const void *a, const void *b) {
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

/* Nanoseconds of one operation: the batch at `rank` of `tries` sorted by their time, each of at least
 * `batch_ns`. `work` does so many operations and returns how long they took, in ns. */
__attribute__((unused)) static double ranked_ns(double (*work)(long), int tries, double batch_ns,
                                                int rank) {
    long operations = 1;
    for (;;) {
        double took = work(operations);
        if (took >= batch_ns)
            break;
        double factor = took > batch_ns / 100 ? 1.1 * batch_ns / took : 10;
        operations = (long)(operations * factor) + 1;
    }
    double values[tries];
    for (int i = 0; i < tries; i++)
        values[i] = work(operations) / operations;
    qsort(values, tries, sizeof *values, by_value);
    return values[rank];
}

/* The fastest of seven batches of 50 ms, as the agent's figure of a file codec. */
__attribute__((unused)) static double fastest_ns(double (*work)(long)) {
    return ranked_ns(work, 7, 50e6, 0);
}

/* The median of them: the lower one of two. */
__attribute__((unused)) static double median_ns(double (*work)(long), int tries, double batch_ns) {
    return ranked_ns(work, tries, batch_ns, (tries - 1) / 2);
}

#endif
