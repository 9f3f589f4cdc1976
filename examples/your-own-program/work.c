/* A small program to measure, for Linux and for Windows: sorts pseudo-random numbers and prints its
 * own rate, and a checksum that is the same wherever it runs. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int order(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

int main(int count, char **words) {
    long size = count > 1 ? atol(words[1]) : 0;
    if (size < 1 || size > 100000000) {
        fprintf(stderr, "work: give a number of values from 1 to 100000000\n");
        return 2;
    }
    uint32_t *values = malloc((size_t)size * sizeof *values), state = 2463534242u, sum = 0;
    if (values == NULL) {
        fprintf(stderr, "work: no memory for %ld values\n", size);
        return 1;
    }
    for (long i = 0; i < size; i++) { /* xorshift (Marsaglia 2003) */
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        values[i] = state;
    }
    clock_t begin = clock();
    qsort(values, (size_t)size, sizeof *values, order);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    for (long i = 0; i < size; i++) sum = sum * 31u + values[i];
    if (seconds > 0) printf("rate: %.0f values/s\n", (double)size / seconds);
    printf("checksum: %08lx\n", (unsigned long)sum);
    free(values);
    return 0;
}
