/* What the twins have in common: batches of a given length, and the median of several of them. */
#ifndef TIMING_H
#define TIMING_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void need(int true_of, const char *what) {
    if (!true_of) {
        perror(what);
        exit(1);
    }
}

static int by_value(const void *a, const void *b) {
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

/* Nanoseconds of one operation: the median of `tries` batches of at least `batch_ns`. `work` does
 * so many operations and returns how long they took, in ns. */
__attribute__((unused)) static double median_ns(double (*work)(long), int tries, double batch_ns) {
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
    return tries % 2 ? values[tries / 2] : (values[tries / 2 - 1] + values[tries / 2]) / 2;
}

#endif
