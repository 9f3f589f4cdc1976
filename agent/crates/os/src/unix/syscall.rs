//! A system call by itself, without the C library: `getpid(2)`.

use pentathlon_code::Level;

/// The process id, asked of the kernel every time. The C library's function did answer from a
/// cache for years (glibc before 2.25), so it is not used.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub extern "C" fn getpid() -> i64 {
    let result: i64;
    // SAFETY: getpid has no argument, touches no memory and cannot fail; the instruction
    // overwrites RAX, RCX and R11 and nothing else.
    unsafe {
        // The two instructions stand together, as in every C library: sandboxes that patch system
        // calls in place look for this very pair.
        std::arch::asm!(
            "mov eax, {number}",
            "syscall",
            number = const libc::SYS_getpid,
            lateout("rax") result,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
pub extern "C" fn getpid() -> i64 {
    let result: i64;
    // SAFETY: getpid has no argument, touches no memory and cannot fail; X0 takes the result.
    unsafe {
        std::arch::asm!(
            "svc 0",
            in("x8") libc::SYS_getpid,
            lateout("x0") result,
            options(nostack),
        );
    }
    result
}

#[cfg(all(target_os = "linux", target_arch = "riscv64"))]
pub extern "C" fn getpid() -> i64 {
    let result: i64;
    // SAFETY: getpid has no argument, touches no memory and cannot fail; A0 takes the result.
    unsafe {
        std::arch::asm!(
            "ecall",
            in("a7") libc::SYS_getpid,
            lateout("a0") result,
            options(nostack),
        );
    }
    result
}

#[cfg(all(
    target_os = "linux",
    not(any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    ))
))]
const GETPID: libc::c_long = libc::SYS_getpid;
/// The same on FreeBSD and macOS since 4.2BSD (sys/syscall.h).
#[cfg(not(target_os = "linux"))]
const GETPID: libc::c_int = 20;

#[cfg(not(all(
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
)))]
pub extern "C" fn getpid() -> i64 {
    // SAFETY: getpid has no argument, touches no memory and cannot fail.
    i64::from(unsafe { libc::syscall(GETPID) })
}

/// Requests the process id so many times, by a loop that is compiled at a level; how often the answer
/// was the expected one.
#[inline]
pub fn getpids(level: Level, operations: u64, expected: i64) -> u64 {
    // SAFETY: the call has no argument and can always be made.
    unsafe { (level.loops.getpid)(operations, getpid, expected).correct }
}
