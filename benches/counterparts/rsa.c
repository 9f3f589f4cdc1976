/* The bare RSA primitives by libcrypto, without padding and without blinding: what cpu.cipher does, by
 * openssl's numbers or, compiled with AWS-LC, by the agent's.
 *
 *   cc -O2 rsa.c -o rsa -lcrypto
 *   rsa BITS WORK                       prints the median time of an operation in us
 *
 * WORK: public, private; power: message^e mod n alone, without conversions, locks and allocations; sign,
 * verify: as `openssl speed rsa`, with padding (PKCS #1) and blinding.
 *
 * Batches of ENOUGH us, default 5000; median of 11.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "timing.h"

#include <openssl/bn.h>
#include <openssl/evp.h>
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

/* What `openssl speed` signs is as long as an MD5 and a SHA-1 together. */
#define DIGEST 36

static EVP_PKEY_CTX *context_of(int (*start)(EVP_PKEY_CTX *)) {
    EVP_PKEY *key = EVP_PKEY_new();
    need(key && EVP_PKEY_set1_RSA(key, rsa), "key");
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key, NULL);
    need(context && start(context) == 1, "context");
    return context;
}

static double sign(long operations) {
    EVP_PKEY_CTX *context = context_of(EVP_PKEY_sign_init);
    double start = now();
    for (long i = 0; i < operations; i++) {
        size_t length = sizeof to;
        need(EVP_PKEY_sign(context, to, &length, from, DIGEST) == 1, "sign");
    }
    return now() - start;
}

static double verify(long operations) {
    sign(1);
    EVP_PKEY_CTX *context = context_of(EVP_PKEY_verify_init);
    double start = now();
    for (long i = 0; i < operations; i++)
        need(EVP_PKEY_verify(context, to, bytes, from, DIGEST) == 1, "verify");
    return now() - start;
}

static const struct {
    const char *name;
    double (*work)(long);
} works[] = {{"public", public_key}, {"private", private_key}, {"power", power},
             {"sign", sign},         {"verify", verify},       {NULL, NULL}};

int main(int argc, char **argv) {
    const char *enough = getenv("ENOUGH");
    int chosen = 0;
    while (argc == 3 && works[chosen].name && strcmp(works[chosen].name, argv[2]))
        chosen++;
    if (argc != 3 || !works[chosen].name)
        return fprintf(stderr, "usage: rsa BITS public|private|power|sign|verify\n"), 2;
    BIGNUM *e = BN_new();
    BN_set_word(e, 65537);
    rsa = RSA_new();
    need(RSA_generate_key_ex(rsa, atoi(argv[1]), e, NULL), "key");
    if (works[chosen].work != sign)
        RSA_set_flags(rsa, RSA_FLAG_NO_BLINDING);
    bytes = RSA_size(rsa);
    memset(from, 0x55, bytes);
    double batch = (enough ? atof(enough) : 5000) * 1e3;
    printf("rate: %.4f\n", median_ns(works[chosen].work, 11, batch) / 1e3);
    return 0;
}
