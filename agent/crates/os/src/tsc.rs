//! The x86-64 time stamp counter, fenced so that no instruction of a batch leaks out of it
//! (Intel SDM vol. 3, 18.17; divan and the Linux vDSO order it the same way).

use std::arch::x86_64::{__cpuid, __get_cpuid_max, _mm_lfence, _rdtsc};

/// Whether the counter runs at one rate in all power states (CPUID 80000007h EDX[8]).
#[inline]
pub fn is_invariant() -> bool {
    // SAFETY: CPUID exists on every x86-64 CPU; the leaf is requested only if it is there.
    #[allow(unused_unsafe)]
    unsafe {
        __get_cpuid_max(0x8000_0000).0 >= 0x8000_0007 && __cpuid(0x8000_0007).edx & (1 << 8) != 0
    }
}

/// Lets this thread, and what it starts from now on, read the counter if it was forbidden
/// (PR_SET_TSC, prctl(2)); whether it was. The C library's clock reads the counter too where the
/// kernel keeps time by it, so a program that is forbidden it dies of SIGSEGV at its first look at any
/// clock.
///
/// # Errors
/// What the kernel states where it is forbidden and stays so.
#[cfg(target_os = "linux")]
pub fn permit() -> std::io::Result<bool> {
    let mut state: libc::c_int = libc::PR_TSC_ENABLE;
    // SAFETY: `state` is valid to write to. A kernel that does not know the question leaves it.
    unsafe { libc::prctl(libc::PR_GET_TSC, &mut state) };
    if state != libc::PR_TSC_SIGSEGV {
        return Ok(false);
    }
    // SAFETY: plain integers.
    crate::call::check(unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_ENABLE) } == 0)?;
    Ok(true)
}

/// One fenced reading, in ticks.
#[inline]
pub fn read() -> u64 {
    // SAFETY: LFENCE and RDTSC exist on every x86-64 CPU. A process may be forbidden RDTSC, which then
    // ends it with a signal and harms no memory; `permit` lifts that before anything is timed.
    unsafe {
        _mm_lfence();
        let ticks = _rdtsc();
        _mm_lfence();
        ticks
    }
}
