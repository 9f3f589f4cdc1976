//! The chain of dependent loads.

use std::arch::asm;

/// Loads in one iteration; their latency hides the loop's own instructions.
const UNROLLED: u64 = 32;

/// # Safety
/// From `start` on, every word reached must hold the address of a readable, aligned word.
pub unsafe fn chase(start: *const u64, steps: u64) -> *const u64 {
    let mut at = start;
    // SAFETY: the caller's promise; the loops only load, and clobber what is named.
    unsafe {
        asm!(
            "cbz {whole}, 3f",
            ".p2align 5",
            "2:",
            ".rept 32",
            "ldr {at}, [{at}]",
            ".endr",
            "sub {whole}, {whole}, #1",
            "cbnz {whole}, 2b",
            "3:",
            "cbz {rest}, 5f",
            "4:",
            "ldr {at}, [{at}]",
            "sub {rest}, {rest}, #1",
            "cbnz {rest}, 4b",
            "5:",
            at = inout(reg) at,
            whole = inout(reg) steps / UNROLLED => _,
            rest = inout(reg) steps % UNROLLED => _,
            options(nostack, readonly),
        );
    }
    at
}
