//! The timed loops over memory, and which of them this CPU and this system can run.
//!
//! Every loop repeats whole passes over a block inside one call, so that short blocks pay for no
//! calls, and touches every byte of the block in every pass.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod assembly;
mod chain;
mod portable;
pub mod random;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64 as best;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use assembly::chase;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use portable::{self as best, chase};
#[cfg(target_arch = "x86_64")]
use x86_64 as best;

/// The loops made of the instructions `name`, or why there are none: one sentence.
pub use best::named;
pub use chain::Chain;

/// Instruction sets in the order of preference.
#[cfg(not(target_arch = "aarch64"))]
pub const NAMES: [&str; 4] = ["avx512", "avx2", "sse2", "scalar"];
#[cfg(target_arch = "aarch64")]
pub const NAMES: [&str; 2] = ["neon", "scalar"];

/// Blocks consist of whole cache lines of this many 64-bit words.
pub const LINE_WORDS: usize = 8;

/// Read, write, copy and chase with one set of instructions.
#[derive(Clone, Copy)]
pub struct Kernels {
    /// `avx512`, `avx2`, `sse2`, `neon`, `scalar` or `portable`.
    pub name: &'static str,
    read: fn(&[u64], u64) -> u64,
    write: fn(&mut [u64], u64, u64) -> u64,
    copy: fn(&mut [u64], &[u64], u64),
}

impl Kernels {
    /// Loads the whole block `passes` times. After every pass the result is turned left by one bit
    /// and the exclusive or of the words loaded is added to it: see [`after_passes`].
    #[inline]
    pub fn read(&self, block: &[u64], passes: u64) -> u64 {
        check(block);
        (self.read)(block, passes)
    }

    /// Stores `value + 1` into every word, then `value + 2`, and so on for `passes`; returns the
    /// value of the last pass.
    #[inline]
    pub fn write(&self, block: &mut [u64], value: u64, passes: u64) -> u64 {
        check(block);
        (self.write)(block, value, passes)
    }

    /// Copies `from` to `to`, `passes` times.
    #[inline]
    pub fn copy(&self, to: &mut [u64], from: &[u64], passes: u64) {
        check(to);
        check(from);
        assert_eq!(to.len(), from.len(), "blocks of one length");
        (self.copy)(to, from, passes);
    }
}

/// What [`Kernels::read`] returns if the words of the block add up to `block` (exclusive or).
pub fn after_passes(block: u64, passes: u64) -> u64 {
    // 64 turns make every bit the parity of the block, 64 more take that away again.
    (0..passes % 128).fold(0, |all: u64, _| all.rotate_left(1) ^ block)
}

/// What the loops rely on.
fn check(block: &[u64]) {
    assert!(
        !block.is_empty()
            && block.len().is_multiple_of(LINE_WORDS)
            && block.as_ptr().align_offset(64) == 0,
        "a block is whole cache lines"
    );
}

/// The widest vector instructions that the CPU has and the system saves.
pub fn vector() -> Kernels {
    NAMES
        .iter()
        .find_map(|name| named(name).ok())
        .unwrap_or(portable::KERNELS)
}

/// Plain loads and stores of 64 bits.
pub fn scalar() -> Kernels {
    named("scalar").unwrap_or(portable::KERNELS)
}

/// The loops without any instruction of one architecture, for tests to compare with.
pub fn portable() -> Kernels {
    portable::KERNELS
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_os::region::{Pages, Region};

    fn all() -> Vec<Kernels> {
        let mut all: Vec<_> = NAMES.iter().filter_map(|name| named(name).ok()).collect();
        all.push(portable());
        all
    }

    /// Every remainder of the unrolled loops.
    fn lengths() -> impl Iterator<Item = usize> {
        (1..=40)
            .chain([64, 128, 1024])
            .map(|lines| lines * LINE_WORDS)
    }

    fn memory(words: usize) -> Region {
        let mut region = Region::reserve(words * 8, Pages::Default).unwrap();
        region.touch(words * 8).unwrap();
        region
    }

    #[test]
    fn reading_loads_every_word_in_every_pass() {
        let mut region = memory(1024 * LINE_WORDS);
        let words = region.words();
        for (i, word) in words.iter_mut().enumerate() {
            *word = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        for kernels in all() {
            for length in lengths() {
                let block = &words[..length];
                let all = block.iter().fold(0, |all, &word| all ^ word);
                for passes in [0, 1, 2, 7] {
                    assert_eq!(
                        kernels.read(block, passes),
                        after_passes(all, passes),
                        "{} {length} {passes}",
                        kernels.name
                    );
                }
            }
        }
    }

    #[test]
    fn the_passes_can_be_derived_from_the_result() {
        for block in [0x9e37_79b9_7f4a_7c15, 0x7d15_9e49_2221_a540_u64] {
            let step = |all: u64, _| all.rotate_left(1) ^ block;
            for passes in (1..300).chain([100_003]) {
                assert_eq!(after_passes(block, passes), (0..passes).fold(0, step));
            }
            // Up to half a turn of both, no two counts look alike.
            let mut seen: Vec<_> = (0..64).map(|n| after_passes(block, n)).collect();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), 64);
        }
    }

    #[test]
    fn writing_fills_the_block_and_nothing_else() {
        let mut region = memory(1025 * LINE_WORDS);
        let words = region.words();
        for kernels in all() {
            for length in lengths() {
                words.fill(1);
                assert_eq!(kernels.write(&mut words[..length], 100, 3), 103);
                assert!(
                    words[..length].iter().all(|&w| w == 103),
                    "{}",
                    kernels.name
                );
                assert!(words[length..].iter().all(|&w| w == 1), "{}", kernels.name);
                assert_eq!(kernels.write(&mut words[..length], 7, 0), 7);
                assert!(
                    words[..length].iter().all(|&w| w == 103),
                    "{}",
                    kernels.name
                );
            }
        }
    }

    #[test]
    fn copying_moves_the_block_and_nothing_else() {
        let mut region = memory(2 * 1025 * LINE_WORDS);
        let (from, to) = region.words().split_at_mut(1025 * LINE_WORDS);
        for (i, word) in from.iter_mut().enumerate() {
            *word = i as u64 ^ 0x5555;
        }
        for kernels in all() {
            for length in lengths() {
                to.fill(1);
                kernels.copy(&mut to[..length], &from[..length], 2);
                assert_eq!(to[..length], from[..length], "{} {length}", kernels.name);
                assert!(to[length..].iter().all(|&w| w == 1), "{}", kernels.name);
            }
        }
    }

    #[test]
    fn a_chase_takes_exactly_the_steps_asked_for() {
        let mut region = memory(64 * LINE_WORDS);
        let start = region.addresses().start;
        let words = region.words();
        for i in 0..words.len() {
            words[i] = (start + (i + 1) % words.len() * 8) as u64;
        }
        let first = words.as_ptr();
        for steps in (0..100).chain([511, 512, 513]) {
            // SAFETY: every word holds the address of the next one, the last of the first.
            let reached = unsafe { chase(first, steps) };
            assert_eq!((reached as usize - start) / 8, steps as usize % words.len());
        }
    }

    #[test]
    fn unknown_instructions_are_refused_in_a_sentence() {
        assert!(named("mmx").err().unwrap().contains("mmx"));
    }

    #[test]
    #[should_panic(expected = "whole cache lines")]
    fn a_block_with_a_part_of_a_line_is_a_bug() {
        let mut region = memory(64);
        portable().read(&region.words()[..12], 1);
    }
}
