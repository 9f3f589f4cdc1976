//! The x86-64 time stamp counter, fenced so that no instruction of a batch leaks out of it
//! (Intel SDM vol. 3, 18.17; divan and the Linux vDSO order it the same way).

use std::arch::x86_64::{__cpuid, __get_cpuid_max, _mm_lfence, _rdtsc};

/// Whether the counter runs at one rate in all power states (CPUID 80000007h EDX[8]).
#[inline]
pub fn is_invariant() -> bool {
    // SAFETY: CPUID exists on every x86-64 CPU; the leaf is asked for only if it is there.
    #[allow(unused_unsafe)]
    unsafe {
        __get_cpuid_max(0x8000_0000).0 >= 0x8000_0007 && __cpuid(0x8000_0007).edx & (1 << 8) != 0
    }
}

/// One fenced reading, in ticks.
#[inline]
pub fn read() -> u64 {
    // SAFETY: LFENCE and RDTSC exist on every x86-64 CPU; a system that forbids RDTSC
    // (PR_SET_TSC) is found by `calibrate` in a child before this is used.
    unsafe {
        _mm_lfence();
        let ticks = _rdtsc();
        _mm_lfence();
        ticks
    }
}
