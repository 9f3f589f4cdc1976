//! What the processor says of itself: CPUID (Intel SDM vol. 2A; AMD APM vol. 3, appendix E).

use crate::leaf::{Reason, Reported};
use crate::source::Source;

/// Vendor, family, model and stepping of an x86 processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub vendor: String,
    pub model_name: Reported<String>,
    pub family: u32,
    pub model: u32,
    pub stepping: u32,
}

impl Identity {
    pub fn read(source: &Source) -> Reported<Self> {
        let [_, b, c, d] = source.cpuid(0, 0)?;
        let [signature, ..] = source.cpuid(1, 0)?;
        let family = signature >> 8 & 0xF;
        let extended = |family: u32| family == 6 || family == 15;
        Ok(Self {
            vendor: letters(&[b, d, c]),
            model_name: brand(source),
            family: family
                + if family == 15 {
                    signature >> 20 & 0xFF
                } else {
                    0
                },
            model: (signature >> 4 & 0xF)
                + if extended(family) {
                    (signature >> 16 & 0xF) << 4
                } else {
                    0
                },
            stepping: signature & 0xF,
        })
    }
}

/// The brand string of leaves 80000002h to 80000004h.
fn brand(source: &Source) -> Reported<String> {
    let mut registers = Vec::new();
    for leaf in 0x8000_0002..=0x8000_0004 {
        registers.extend(source.cpuid(leaf, 0)?);
    }
    match letters(&registers) {
        name if name.is_empty() => Err(Reason::new("the processor's brand string is empty")),
        name => Ok(name),
    }
}

fn letters(registers: &[u32]) -> String {
    let bytes: Vec<u8> = registers.iter().flat_map(|r| r.to_le_bytes()).collect();
    let text = String::from_utf8_lossy(&bytes).replace('\0', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the time stamp counter runs at one rate in all power states (80000007h EDX[8]).
pub fn tsc_invariant(source: &Source) -> Reported<bool> {
    source
        .cpuid(0x8000_0007, 0)
        .map(|[_, _, _, d]| d & (1 << 8) != 0)
}

/// The rate of the time stamp counter: leaf 15h (crystal times ratio), or the hypervisor's leaf
/// 40000010h.
pub fn tsc_khz(source: &Source) -> Reported<u64> {
    let crystal = source
        .cpuid(0x15, 0)
        .and_then(|[denominator, numerator, hertz, _]| {
            if denominator == 0 || numerator == 0 || hertz == 0 {
                return Err(Reason::new(
                    "CPUID leaf 15h leaves the crystal's frequency empty",
                ));
            }
            Ok(u64::from(hertz) * u64::from(numerator) / u64::from(denominator) / 1000)
        });
    crystal.or_else(|refusal| match source.cpuid(0x4000_0010, 0) {
        Ok([khz, ..]) if khz > 0 => Ok(u64::from(khz)),
        _ => Err(refusal),
    })
}

/// The highest level of the x86-64 psABI that the processor and
/// the system together offer.
#[cfg(target_arch = "x86_64")]
pub fn level() -> Reported<String> {
    macro_rules! all {
        ($($feature:tt)*) => { $(std::arch::is_x86_feature_detected!($feature))&&* };
    }
    let level = if !all!("sse3" "ssse3" "sse4.1" "sse4.2" "popcnt" "cmpxchg16b") {
        1
    } else if !all!("avx" "avx2" "bmi1" "bmi2" "f16c" "fma" "lzcnt" "movbe") {
        2
    } else if !all!("avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl") {
        3
    } else {
        4
    };
    Ok(format!("x86-64-v{level}"))
}

#[cfg(not(target_arch = "x86_64"))]
pub fn level() -> Reported<String> {
    Err(Reason::new(format!(
        "{} has no such levels",
        std::env::consts::ARCH
    )))
}
