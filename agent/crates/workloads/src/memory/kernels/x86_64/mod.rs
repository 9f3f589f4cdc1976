//! The loops for x86-64, in assembly, so that exactly the instructions named run, whatever the
//! compiler. Ordinary (write-back) loads and stores only, never streaming ones.

mod avx2;
mod avx512;
mod chase;
mod scalar;
mod sse2;
mod vector;

pub use chase::chase;

use super::Kernels;

/// Bytes of a line and of one iteration of the unrolled loops.
const LINE: usize = 64;
const CHUNK: usize = 1024;

pub fn named(name: &str) -> Result<Kernels, String> {
    // The detection asks CPUID for the instructions and XGETBV for whether the system saves their
    // registers.
    let (kernels, available) = match name {
        "avx512" => (avx512::KERNELS, is_x86_feature_detected!("avx512f")),
        "avx2" => (avx2::KERNELS, is_x86_feature_detected!("avx2")),
        "sse2" => (sse2::KERNELS, true),
        "scalar" => (scalar::KERNELS, true),
        _ => return Err(format!("there are no loops made of '{name}'")),
    };
    if available {
        Ok(kernels)
    } else {
        Err(format!(
            "the CPU, or the system that must save the registers, does not offer {name}"
        ))
    }
}

/// `passes` passes over `bytes` bytes: whole chunks first, then single lines.
///
/// `before` and `after` run once, `pass` and `end` at both ends of every pass. `chunk` and `line` advance the
/// pointers. A chunk of 1 KiB keeps the loop's own instructions below 2 % and the mispredicted exit
/// of the inner loop rare, and still fits the decoded-instruction caches. Loops begin on a cache line:
/// at half of one, another build of the program could be slower by 12 % on some processors.
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
            "test {passes}, {passes}",
            "jz 6f",
            ".p2align 6",
            "2:",
            $($pass,)*
            "mov {left}, {chunks}",
            "test {left}, {left}",
            "jz 4f",
            ".p2align 6",
            "3:",
            $($chunk,)*
            "dec {left}",
            "jnz 3b",
            "4:",
            "mov {left}, {lines}",
            "test {left}, {left}",
            "jz 5f",
            "7:",
            $($line,)*
            "dec {left}",
            "jnz 7b",
            "5:",
            $($end,)*
            "dec {passes}",
            "jnz 2b",
            "6:",
            $($after,)*
            passes = inout(reg) $passes => _,
            chunks = in(reg) $bytes / $crate::memory::kernels::x86_64::CHUNK,
            lines = in(reg) $bytes % $crate::memory::kernels::x86_64::CHUNK
                / $crate::memory::kernels::x86_64::LINE,
            left = out(reg) _,
            $($operands)*
        )
    };
}
use passes;
