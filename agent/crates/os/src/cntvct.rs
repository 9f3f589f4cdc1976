//! The virtual counter of 64-bit ARM, CNTVCT_EL0, fenced so that no instruction of a batch leaks out
//! of it (Arm ARM, D12 "The Generic Timer"; the Linux vDSO orders it the same way).

use std::arch::asm;

/// Whether the counter runs at one rate in all power states: the architecture requires it.
#[inline]
pub fn is_invariant() -> bool {
    true
}

/// One fenced reading, in ticks.
#[inline]
pub fn read() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register that Linux lets every process read, and no memory. Without `nomem`
    // the compiler moves no load or store across it either.
    unsafe {
        asm!(
            "isb",
            "mrs {ticks}, cntvct_el0",
            "isb",
            ticks = out(reg) ticks,
            options(nostack, preserves_flags),
        );
    }
    ticks
}
