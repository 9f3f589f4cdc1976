//! The loops for x86-64, in assembly, so that exactly the instructions named run, whatever the
//! compiler. Ordinary (write-back) loads and stores only, never streaming ones.

mod avx2;
mod avx512;
mod scalar;
mod sse2;
mod vector;

use super::assembly::passes;
use super::Kernels;

/// Bytes of one iteration of the unrolled loops.
pub const CHUNK: usize = 1024;

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
