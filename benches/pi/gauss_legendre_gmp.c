/* π by the Gauss–Legendre algorithm on the GNU multiple precision library: the peer of `cpu.pi`.
 * Prints the CPU time, with the conversion to decimal, and the last ten digits.
 *
 * cc -O2 gauss_legendre_gmp.c -o gauss_legendre_gmp -lgmp
 * ./gauss_legendre_gmp 1048576
 */
#include <gmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(int argc, char **argv)
{
    long digits = argc == 2 ? atol(argv[1]) : 0;
    if (digits < 20) {
        fprintf(stderr, "gauss_legendre_gmp: give the number of digits, at least 20\n");
        return 2;
    }
    mpf_set_default_prec((mp_bitcnt_t)(digits * 3.3219280948873626) + 64);
    double start = cpu_seconds();
    mpf_t a, a2, b2, d, s, b;
    mpf_init_set_ui(a, 1);
    mpf_init_set_ui(a2, 1);
    mpf_init_set_d(b2, 0.5);
    mpf_init_set_d(d, 0.25);
    mpf_init(s);
    mpf_init(b);
    for (unsigned step = 0;; step++) {
        /* S = (A + B)/4, b = √B, a = (a + b)/2, A = a², B = 2(A − S), D −= 2^k (A − B) */
        mpf_add(s, a2, b2);
        mpf_div_2exp(s, s, 2);
        mpf_sqrt(b, b2);
        mpf_add(a, a, b);
        mpf_div_2exp(a, a, 1);
        mpf_mul(a2, a, a);
        mpf_sub(b2, a2, s);
        mpf_mul_2exp(b2, b2, 1);
        mpf_sub(s, a2, b2);
        long exponent;
        double gap = mpf_get_d_2exp(&exponent, s);
        mpf_mul_2exp(s, s, step);
        mpf_sub(d, d, s);
        if (gap == 0 || -exponent > (long)(digits * 1.661) + 20)
            break;
    }
    mpf_add(a2, a2, b2);
    mpf_div_2exp(a2, a2, 1);
    mpf_div(a2, a2, d);
    mp_exp_t point;
    char *text = mpf_get_str(NULL, &point, 10, digits + 1, a2);
    printf("%ld digits: %.3f s, ending in %s\n", digits, cpu_seconds() - start,
           text + digits - 9);
    free(text);
    mpf_clears(a, a2, b2, d, s, b, NULL);
    return 0;
}
