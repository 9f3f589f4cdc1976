/* AES by libcrypto's EVP: what `openssl speed -evp` and cpu.cipher do, timed as the agent times;
 * compiled with AWS-LC, by the agent's library.
 *
 *   cc -O2 evp.c -o evp -lcrypto
 *   evp NAME BYTES 0|1 [apart]          prints MB/s of a buffer of BYTES, to decrypt (0) or encrypt (1)
 *
 * apart: from one buffer to another, as cpu.encrypt does, each where malloc puts it, 16 bytes into a page;
 * otherwise in place, at the beginning of one.
 * NAME: aes-128-cbc, aes-256-cbc or aes-128-gcm. One key and one chain for all buffers, and no tag, as
 * `openssl speed` does without -aead. Batches of ENOUGH us, default 5000; median of 11.
 */
#include "timing.h"

#include <openssl/evp.h>
#include <string.h>

static const struct {
    const char *name;
    const EVP_CIPHER *(*cipher)(void);
} known[] = {{"aes-128-cbc", EVP_aes_128_cbc}, {"aes-256-cbc", EVP_aes_256_cbc},
             {"aes-128-gcm", EVP_aes_128_gcm}, {NULL, NULL}};

static EVP_CIPHER_CTX *context;
static unsigned char *from, *to;
static int length;

static double run(long operations) {
    int made;
    double start = now();
    for (long i = 0; i < operations; i++)
        need(EVP_CipherUpdate(context, to, &made, from, length), "EVP_CipherUpdate");
    return now() - start;
}

int main(int argc, char **argv) {
    const char *enough = getenv("ENOUGH");
    static const unsigned char key[32] = "a key that protects nothing", iv[16];
    int chosen = 0;
    while (argc >= 4 && known[chosen].name && strcmp(known[chosen].name, argv[1]))
        chosen++;
    if (argc < 4 || !known[chosen].name)
        return fprintf(stderr, "usage: evp aes-128-cbc|aes-256-cbc|aes-128-gcm BYTES 0|1 [apart]\n"), 2;
    length = atoi(argv[2]);
    size_t room = ((size_t)length + 4095) / 4096 * 4096;
    from = argc > 4 ? malloc(room) : aligned_alloc(4096, room);
    to = argc > 4 ? malloc(room) : from;
    context = EVP_CIPHER_CTX_new();
    need(from && to && context, "memory");
    memset(from, 0x55, length);
    memset(to, 0x55, length);
    need(EVP_CipherInit_ex(context, known[chosen].cipher(), NULL, key, iv, atoi(argv[3])), "key");
    EVP_CIPHER_CTX_set_padding(context, 0);
    printf("rate: %.3f\n", length / median_ns(run, 11, (enough ? atof(enough) : 5000) * 1e3) * 1e3);
    return 0;
}
