//! The loops for 64-bit ARM, in assembly, so that exactly the instructions named run, whatever the
//! compiler. Ordinary loads and stores only: no non-temporal pairs, and no DC ZVA.

mod neon;
mod scalar;

use super::assembly::passes;
use super::Kernels;

/// Bytes of one iteration of the unrolled loops. The offset of a pair of 64-bit
/// registers reaches 504 bytes.
pub const CHUNK: usize = 512;

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
