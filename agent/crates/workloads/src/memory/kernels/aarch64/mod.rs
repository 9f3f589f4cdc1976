//! The loops for 64-bit ARM, in assembly, so that exactly the instructions named run, whatever the
//! compiler. Ordinary loads and stores only: no non-temporal pairs, and no DC ZVA.

mod chase;
mod neon;
mod scalar;

pub use chase::chase;

use super::Kernels;

/// Bytes of a line and of one iteration of the unrolled loops. The offset of a pair of 64-bit
/// registers reaches 504 bytes.
const LINE: usize = 64;
const CHUNK: usize = 512;

pub fn named(name: &str) -> Result<Kernels, String> {
    match name {
        // Linux on this architecture requires it.
        "neon" => Ok(neon::KERNELS),
        "scalar" => Ok(scalar::KERNELS),
        _ => Err(format!(
            "there are no loops made of '{name}' for {}",
            std::env::consts::ARCH
        )),
    }
}

/// `passes` passes over `bytes` bytes: whole chunks first, then single lines. The parts are those of
/// the macro for x86-64.
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
            "cbz {passes}, 6f",
            ".p2align 5",
            "2:",
            $($pass,)*
            "mov {left}, {chunks}",
            "cbz {left}, 4f",
            ".p2align 5",
            "3:",
            $($chunk,)*
            "sub {left}, {left}, #1",
            "cbnz {left}, 3b",
            "4:",
            "mov {left}, {lines}",
            "cbz {left}, 5f",
            "7:",
            $($line,)*
            "sub {left}, {left}, #1",
            "cbnz {left}, 7b",
            "5:",
            $($end,)*
            "sub {passes}, {passes}, #1",
            "cbnz {passes}, 2b",
            "6:",
            $($after,)*
            passes = inout(reg) $passes => _,
            chunks = in(reg) $bytes / $crate::memory::kernels::aarch64::CHUNK,
            lines = in(reg) $bytes % $crate::memory::kernels::aarch64::CHUNK
                / $crate::memory::kernels::aarch64::LINE,
            left = out(reg) _,
            $($operands)*
        )
    };
}
use passes;
