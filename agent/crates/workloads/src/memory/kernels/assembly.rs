//! What the loops in assembly have in common on x86-64 and 64-bit ARM: passes over a block, and the
//! chain of dependent loads.

use crate::assembly::{count_down, jump_if_zero};
use std::arch::asm;

/// Bytes of a line.
pub const LINE: usize = 64;

/// Loops begin on a cache line: at half of one, another build of the program could be slower by 12 % on
/// some processors.
#[cfg(target_arch = "x86_64")]
macro_rules! align {
    () => {
        ".p2align 6"
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! align {
    () => {
        ".p2align 5"
    };
}
pub(super) use align;

/// `passes` passes over `bytes` bytes: whole chunks first, then single lines.
///
/// `before` and `after` run once, `pass` and `end` at both ends of every pass. `chunk` and `line`
/// advance the pointers. On x86-64 a chunk of 1 KiB keeps the loop's own instructions below 2 % and the
/// mispredicted exit of the inner loop rare, and still fits the decoded-instruction caches.
macro_rules! passes {
    ($bytes:expr, $passes:expr;
     before: [$($before:expr),* $(,)?],
     pass: [$($pass:expr),* $(,)?],
     chunk: [$($chunk:expr),* $(,)?],
     line: [$($line:expr),* $(,)?],
     end: [$($end:expr),* $(,)?],
     after: [$($after:expr),* $(,)?];
     $($operands:tt)*) => {
        core::arch::asm!(
            $($before,)*
            $crate::assembly::jump_if_zero!("passes", "6f"),
            $crate::memory::kernels::assembly::align!(),
            "2:",
            $($pass,)*
            "mov {left}, {chunks}",
            $crate::assembly::jump_if_zero!("left", "4f"),
            $crate::memory::kernels::assembly::align!(),
            "3:",
            $($chunk,)*
            $crate::assembly::count_down!("left", "3b"),
            "4:",
            "mov {left}, {lines}",
            $crate::assembly::jump_if_zero!("left", "5f"),
            "7:",
            $($line,)*
            $crate::assembly::count_down!("left", "7b"),
            "5:",
            $($end,)*
            $crate::assembly::count_down!("passes", "2b"),
            "6:",
            $($after,)*
            passes = inout(reg) $passes => _,
            chunks = in(reg) $bytes / $crate::memory::kernels::best::CHUNK,
            lines = in(reg) $bytes % $crate::memory::kernels::best::CHUNK
                / $crate::memory::kernels::assembly::LINE,
            left = out(reg) _,
            $($operands)*
        )
    };
    // The same steps at every offset `\\d`: many in a chunk, few in a line; then the pointers advance.
    ($bytes:expr, $passes:expr;
     pass: [$($pass:expr),* $(,)?],
     steps: [$($step:expr),* $(,)?],
     chunk: $chunk:literal, [$($chunk_end:expr),*],
     line: $line:literal, [$($line_end:expr),*],
     end: [$($end:expr),* $(,)?];
     $($operands:tt)*) => {
        $crate::memory::kernels::assembly::passes!($bytes, $passes;
            before: [],
            pass: [$($pass,)*],
            chunk: [concat!(".irp d,", $chunk), $($step,)* ".endr", $($chunk_end,)*],
            line: [concat!(".irp d,", $line), $($step,)* ".endr", $($line_end,)*],
            end: [$($end,)*],
            after: [];
            $($operands)*
        )
    };
}
pub(super) use passes;

/// A load of which the address is what the last one loaded.
#[cfg(target_arch = "x86_64")]
macro_rules! follow {
    () => {
        "mov {at}, qword ptr [{at}]"
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! follow {
    () => {
        "ldr {at}, [{at}]"
    };
}

/// Loads in one iteration; their latency hides the loop's own instructions.
const UNROLLED: u64 = 32;

/// Follows a chain of addresses: `steps` dependent loads from `start`; returns the address reached.
///
/// # Safety
/// From `start` on, every word reached must hold the address of a readable, aligned word.
pub unsafe fn chase(start: *const u64, steps: u64) -> *const u64 {
    let mut at = start;
    // SAFETY: the caller's promise; the loops only load, and clobber what is named.
    unsafe {
        asm!(
            jump_if_zero!("whole", "3f"),
            align!(),
            "2:",
            ".rept 32",
            follow!(),
            ".endr",
            count_down!("whole", "2b"),
            "3:",
            jump_if_zero!("rest", "5f"),
            "4:",
            follow!(),
            count_down!("rest", "4b"),
            "5:",
            at = inout(reg) at,
            whole = inout(reg) steps / UNROLLED => _,
            rest = inout(reg) steps % UNROLLED => _,
            options(nostack, readonly),
        );
    }
    at
}
