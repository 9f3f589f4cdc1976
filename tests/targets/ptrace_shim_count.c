/* Counts what the wrapper of ptrace() asks the processor and the host for while a guest makes
 * system calls: CPUID leaves a virtual machine for its hypervisor, and so must not be asked on each.
 * CPUID is answered with a layout of three components, and the host takes states of 11008 bytes.
 *
 * Prints, for each of two sizes of buffer: CPUID so far, probes so far, calls that got through, and
 * the components that the last one kept.
 */
#include <cpuid.h>
#include <stdio.h>

static unsigned cpuid_calls;

#undef __cpuid_count
#define __cpuid_count(leaf, component, a, b, c, d)                                              \
    do {                                                                                        \
        (void)(leaf), (void)(c), (void)(d);                                                     \
        cpuid_calls++;                                                                          \
        (a) = (component) == 2 ? 256 : (component) == 9 ? 8 : (component) == 18 ? 8192 : 0;     \
        (b) = (component) == 2 ? 576 : (component) == 9 ? 2688 : (component) == 18 ? 2816 : 0;  \
    } while (0)

#include "ptrace_shim.c"

enum { FULL = 11008, CALLS = 1000 };

static unsigned probes, passed;
static uint64_t kept;

static long host(enum __ptrace_request request, pid_t pid, void *note, void *data)
{
    struct iovec *state = data;
    (void)pid, (void)note;
    if (request == PTRACE_GETREGSET) {
        probes++;
        state->iov_len = FULL;
        return 0;
    }
    if (state->iov_len != FULL)
        return -1; /* as the host refuses a short state */
    passed++;
    memcpy(&kept, (unsigned char *)state->iov_base + XSTATE_BV_AT, sizeof kept);
    return 0;
}

int main(void)
{
    static unsigned char buffer[LARGEST];
    const size_t sizes[] = { 2696, 1000 };
    const uint64_t wanted = UINT64_C(7) | UINT64_C(1) << 9 | UINT64_C(1) << 18;
    memcpy(buffer + XSTATE_BV_AT, &wanted, sizeof wanted);
    for (unsigned size = 0; size < 2; size++) {
        for (unsigned call = 0; call < CALLS; call++) {
            struct iovec given = { buffer, sizes[size] };
            set_state(host, 1, NULL, &given);
        }
        printf("%u %u %u %llx\n", cpuid_calls, probes, passed, (unsigned long long)kept);
    }
}
