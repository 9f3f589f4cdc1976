/* The bare RSA primitives by libcrypto, without padding and without blinding: what cpu.cipher does, by
 * openssl's numbers.
 *
 *   cc -O2 rsa.c -o rsa -lcrypto
 *   rsa BITS public|private|power       prints the median time of an operation; power: message^e mod n
 *                                       alone, without conversions, locks and allocations
 *
 * Batches of ENOUGH us, default 5000; median of 11.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "timing.h"

#include <openssl/bn.h>
#include <openssl/rsa.h>
#include <string.h>

static RSA *rsa;
static unsigned char from[1024], to[1024];
static int bytes;

static double public_key(long operations) {
    double start = now();
    for (long i = 0; i < operations; i++)
        need(RSA_public_encrypt(bytes, from, to, rsa, RSA_NO_PADDING) == bytes, "public");
    return now() - start;
}

static double private_key(long operations) {
    double start = now();
    for (long i = 0; i < operations; i++)
        need(RSA_private_decrypt(bytes, from, to, rsa, RSA_NO_PADDING) == bytes, "private");
    return now() - start;
}

/* The power alone: numbers, Montgomery's form and memory are there already. */
static double power(long operations) {
    BN_CTX *context = BN_CTX_new();
    BIGNUM *result = BN_new(), *message = BN_bin2bn(from, bytes, NULL);
    BN_MONT_CTX *form = BN_MONT_CTX_new();
    BN_MONT_CTX_set(form, RSA_get0_n(rsa), context);
    double start = now();
    for (long i = 0; i < operations; i++)
        need(BN_mod_exp_mont(result, message, RSA_get0_e(rsa), RSA_get0_n(rsa), context, form),
             "power");
    return now() - start;
}

int main(int argc, char **argv) {
    const char *enough = getenv("ENOUGH");
    if (argc != 3)
        return fprintf(stderr, "usage: rsa BITS public|private|power\n"), 2;
    BIGNUM *e = BN_new();
    BN_set_word(e, 65537);
    rsa = RSA_new();
    need(RSA_generate_key_ex(rsa, atoi(argv[1]), e, NULL), "key");
    RSA_set_flags(rsa, RSA_FLAG_NO_BLINDING);
    bytes = RSA_size(rsa);
    memset(from, 0x55, bytes);
    double batch = (enough ? atof(enough) : 5000) * 1e3;
    double (*work)(long) = argv[2][1] == 'u' ? public_key : argv[2][1] == 'o' ? power : private_key;
    double ns = median_ns(work, 11, batch);
    printf("rate: %.4f\n", ns / 1e3);
    return 0;
}
