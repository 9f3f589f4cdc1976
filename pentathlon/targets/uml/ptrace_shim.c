/* A wrapper of ptrace(2) for user-mode Linux up to 6.12. It mends two things.
 *
 * 1. Those kernels trace the guest's processes without PTRACE_O_EXITKILL. If the kernel is killed,
 *    the host sets its tracees free, and they go on as ordinary programs of the host: the guest's
 *    system calls are then served by the host, with the rights of the user. The wrapper adds the
 *    option, so that the host ends them together with their kernel.
 *
 * 2. They keep the vector state of a guest process in a buffer without room for AMX. The host takes
 *    a state (PTRACE_SETREGSET, NT_X86_XSTATE) only in its own full size, and refuses a shorter
 *    one; the guest kernel then panics. The wrapper passes a full-size copy on. Components that
 *    the short buffer cannot hold are masked out of XSTATE_BV, so that the host sets them to their
 *    initial state (Intel SDM volume 1, section 13.4). Reading needs no help: the host fills as
 *    much as the buffer holds.
 *
 * Build: cc -O2 -shared -fPIC -o ptrace_shim.so ptrace_shim.c -ldl   Use: LD_PRELOAD.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifndef NT_X86_XSTATE
#define NT_X86_XSTATE 0x202
#endif

enum {
    LARGEST = 16384,       /* bytes; AMX needs about 11 kB */
    XSTATE_BV_AT = 512,    /* offset of the XSAVE header, whose first word is XSTATE_BV */
    LEGACY_AND_HEADER = 576,
    XSAVE_LEAF = 0xd,
    OLD_SETOPTIONS = 21,   /* PTRACE_OLDSETOPTIONS of the kernel's headers */
};

typedef long (*ptrace_function)(enum __ptrace_request, pid_t, void *, void *);

/* Components of the state that lie wholly within `size` bytes; bits 0 and 1 are the legacy area. */
static uint64_t components_within(size_t size)
{
    uint64_t kept = 3;
    for (unsigned component = 2; component < 63; component++) {
        unsigned length = 0, offset = 0, ecx = 0, edx = 0;
        __cpuid_count(XSAVE_LEAF, component, length, offset, ecx, edx);
        if (length != 0 && (size_t)offset + length <= size)
            kept |= UINT64_C(1) << component;
    }
    return kept;
}

static long set_state(ptrace_function real, pid_t pid, void *note, struct iovec *given)
{
    static __thread unsigned char state[LARGEST] __attribute__((aligned(64)));
    static size_t full_size; /* the same for every process of the host */
    static __thread size_t known_size;
    static __thread uint64_t known_components;

    if (full_size == 0) {
        /* The host says its full size by how much of a large buffer it fills. */
        struct iovec probe = { state, sizeof state };
        if (real(PTRACE_GETREGSET, pid, note, &probe) == 0)
            full_size = probe.iov_len;
    }
    if (given->iov_len >= full_size || given->iov_len < LEGACY_AND_HEADER)
        return real(PTRACE_SETREGSET, pid, note, given);

    /* CPUID leaves a virtual machine for its hypervisor: sixty of them cost more than all the rest
       of a guest's system call, so they are asked once for each size of buffer. */
    if (known_size != given->iov_len) {
        known_components = components_within(given->iov_len);
        known_size = given->iov_len;
    }
    memset(state, 0, full_size);
    memcpy(state, given->iov_base, given->iov_len);
    uint64_t present;
    memcpy(&present, state + XSTATE_BV_AT, sizeof present);
    present &= known_components;
    memcpy(state + XSTATE_BV_AT, &present, sizeof present);
    struct iovec full = { state, full_size };
    return real(PTRACE_SETREGSET, pid, note, &full);
}

long ptrace(enum __ptrace_request request, ...)
{
    static ptrace_function real;
    if (real == NULL)
        real = (ptrace_function)dlsym(RTLD_NEXT, "ptrace");

    va_list arguments;
    va_start(arguments, request);
    pid_t pid = va_arg(arguments, pid_t);
    void *address = va_arg(arguments, void *);
    void *data = va_arg(arguments, void *);
    va_end(arguments);

    if (request == PTRACE_SETOPTIONS || (int)request == OLD_SETOPTIONS)
        data = (void *)((uintptr_t)data | PTRACE_O_EXITKILL);
    if (request == PTRACE_SETREGSET && (uintptr_t)address == NT_X86_XSTATE && data != NULL)
        return set_state(real, pid, address, data);
    return real(request, pid, address, data);
}
