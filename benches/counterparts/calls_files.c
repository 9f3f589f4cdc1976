/* System calls without a partner: the least one, and those on files. */
#include "calls.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The instruction itself, as the agent has it: the C library's syscall() moves six registers first. */
#ifdef __x86_64__
static inline long bare_getpid(void) {
    long result;
    __asm__ volatile("mov %1, %%eax\n\tsyscall"
                     : "=a"(result)
                     : "i"(SYS_getpid)
                     : "rcx", "r11");
    return result;
}
#else
#define bare_getpid() syscall(SYS_getpid)
#endif
TIMED(call_getpid, need(bare_getpid() > 1, "getpid"))
/* By the C library, as lat_syscall calls it. */
TIMED(call_getppid, getppid())
TIMED(open_close, close(open(arguments[0], O_RDONLY)))

TIMED(create_delete, {
    close(open("made", O_RDWR | O_CREAT, 0644));
    unlink("made");
})

const struct call file_calls[] = {
    {"getpid", call_getpid, NULL, 0},
    {"getppid", call_getppid, NULL, 0},
    {"open", open_close, NULL, 0},
    {"create_delete", create_delete, NULL, 0},
    {NULL, NULL, NULL, 0},
};
