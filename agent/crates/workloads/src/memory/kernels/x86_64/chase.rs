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
            "test {whole}, {whole}",
            "jz 3f",
            ".p2align 6",
            "2:",
            ".rept 32",
            "mov {at}, qword ptr [{at}]",
            ".endr",
            "dec {whole}",
            "jnz 2b",
            "3:",
            "test {rest}, {rest}",
            "jz 5f",
            "4:",
            "mov {at}, qword ptr [{at}]",
            "dec {rest}",
            "jnz 4b",
            "5:",
            at = inout(reg) at,
            whole = inout(reg) steps / UNROLLED => _,
            rest = inout(reg) steps % UNROLLED => _,
            options(nostack, readonly),
        );
    }
    at
}
