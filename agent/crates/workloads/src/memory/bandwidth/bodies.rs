//! The timed bodies, and how each proves that its passes were done.

use super::super::kernels::{self, Kernels};
use super::super::pattern;
use pentathlon_harness::measure::{Body, Failure};

/// Blocks of up to this many words are looked through after every batch. Looking through a large
/// one costs as much as the batch itself, so of those one word per page is looked at, and all of
/// them after the first batch and at the end of the case.
const SMALL_WORDS: usize = (1 << 20) / 8;
/// Words of the page of which one is looked at; another one after every batch.
const PAGE_WORDS: usize = 4096 / 8;

/// Which words of a block are looked at after a batch.
struct Look {
    first: usize,
    step: usize,
}

impl Look {
    fn every() -> Self {
        Self { first: 0, step: 1 }
    }

    fn after(batch: usize, words: usize) -> Self {
        if batch == 0 || words <= SMALL_WORDS {
            Self::every()
        } else {
            Self {
                // 5 has no factor in common with 512: every word of a page gets its turn.
                first: batch.wrapping_mul(5) % PAGE_WORDS,
                step: PAGE_WORDS,
            }
        }
    }

    fn indices(&self, words: usize) -> impl Iterator<Item = usize> {
        (self.first..words).step_by(self.step)
    }
}

pub struct Read<'a> {
    kernels: Kernels,
    block: &'a [u64],
    checksum: u64,
}

impl<'a> Read<'a> {
    /// `checksum`: the exclusive or of the words that were written to `block`.
    pub fn new(kernels: Kernels, block: &'a [u64], checksum: u64) -> Self {
        Self {
            kernels,
            block,
            checksum,
        }
    }
}

impl Body for Read<'_> {
    fn batch(&mut self, operations: u64) -> u64 {
        self.kernels.read(self.block, operations)
    }

    fn verify(&mut self, operations: u64, returned: u64) -> Result<u64, Failure> {
        let expected = kernels::after_passes(self.checksum, operations);
        if returned == expected {
            Ok(self.checksum)
        } else {
            Err(Failure::Invalid(format!(
                "{operations} passes over the block add up to {returned:#x}, not to \
                 {expected:#x}: not every word was loaded"
            )))
        }
    }
}

/// The word that pass number n stores is this plus n; no block of zeros, which some CPUs store
/// faster.
const WRITTEN: u64 = 0x5bd1_e995_0000_0000;

pub struct Write<'a> {
    kernels: Kernels,
    block: &'a mut [u64],
    value: u64,
    batches: usize,
}

impl<'a> Write<'a> {
    pub fn new(kernels: Kernels, block: &'a mut [u64]) -> Self {
        Self {
            kernels,
            block,
            value: WRITTEN,
            batches: 0,
        }
    }

    fn check(&self, look: &Look) -> Result<(), Failure> {
        for index in look.indices(self.block.len()) {
            if self.block[index] != self.value {
                return Err(Failure::Invalid(format!(
                    "word {index} of the block holds {:#x}, not {:#x} of the last pass: not every \
                     word was stored",
                    self.block[index], self.value
                )));
            }
        }
        Ok(())
    }

    /// Looks at every word.
    pub fn check_all(&self) -> Result<(), Failure> {
        if self.batches == 0 {
            return Ok(());
        }
        self.check(&Look::every())
    }
}

impl Body for Write<'_> {
    fn batch(&mut self, operations: u64) -> u64 {
        self.kernels.write(self.block, self.value, operations)
    }

    fn verify(&mut self, operations: u64, returned: u64) -> Result<u64, Failure> {
        let look = Look::after(self.batches, self.block.len());
        self.batches += 1;
        self.value = self.value.wrapping_add(operations);
        if returned != self.value {
            return Err(Failure::Invalid(format!(
                "{operations} passes ended with {returned:#x}, not {:#x}",
                self.value
            )));
        }
        self.check(&look)?;
        let pass = self.value.wrapping_sub(WRITTEN);
        // Every word was found to hold `value`.
        Ok(self
            .value
            .wrapping_sub(pass)
            .wrapping_mul(self.block.len() as u64))
    }
}

pub struct Copy<'a> {
    kernels: Kernels,
    source: &'a [u64],
    target: &'a mut [u64],
    checksum: u64,
    batches: usize,
}

impl<'a> Copy<'a> {
    /// `source` holds the pattern, whose exclusive or is `checksum`.
    pub fn new(kernels: Kernels, source: &'a [u64], target: &'a mut [u64], checksum: u64) -> Self {
        Self {
            kernels,
            source,
            target,
            checksum,
            batches: 0,
        }
    }

    fn check(&self, look: &Look) -> Result<(), Failure> {
        for index in look.indices(self.target.len()) {
            if self.target[index] != pattern::word(index) {
                return Err(Failure::Invalid(format!(
                    "word {index} of the copy is {:#x}, in the block it is {:#x}: not every word \
                     was copied",
                    self.target[index],
                    pattern::word(index)
                )));
            }
        }
        Ok(())
    }

    /// Looks at every word.
    pub fn check_all(&self) -> Result<(), Failure> {
        if self.batches == 0 {
            return Ok(());
        }
        self.check(&Look::every())
    }
}

impl Body for Copy<'_> {
    /// Spoils the words that are looked at afterwards, so that an earlier copy is not mistaken for
    /// this one.
    fn prepare(&mut self, _operations: u64) -> Result<(), Failure> {
        for index in Look::after(self.batches, self.target.len()).indices(self.target.len()) {
            self.target[index] = !pattern::word(index);
        }
        Ok(())
    }

    fn batch(&mut self, operations: u64) -> u64 {
        self.kernels.copy(self.target, self.source, operations);
        operations
    }

    fn verify(&mut self, _operations: u64, _returned: u64) -> Result<u64, Failure> {
        let look = Look::after(self.batches, self.target.len());
        self.batches += 1;
        self.check(&look)?;
        Ok(self.checksum)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::kernels;
    use super::*;

    /// Aligned memory of so many words that holds the pattern, and the pattern's exclusive or.
    fn block(words: usize, test: impl FnOnce(&mut [u64], u64)) {
        use pentathlon_os::region::{Pages, Region};
        let mut region = Region::reserve(words * 8, Pages::Default).unwrap();
        region.touch(words * 8).unwrap();
        let all = pattern::fill(region.words());
        test(region.words(), all);
    }

    #[test]
    fn every_word_of_a_page_is_looked_at_in_time() {
        let mut seen = [false; PAGE_WORDS];
        for batch in 1..=PAGE_WORDS {
            let look = Look::after(batch, 10 * SMALL_WORDS);
            let indices: Vec<_> = look.indices(PAGE_WORDS * 3).collect();
            assert_eq!(indices.len(), 3, "one per page");
            seen[indices[0]] = true;
        }
        assert!(seen.iter().all(|&seen| seen));
        assert_eq!(Look::after(0, 10 * SMALL_WORDS).indices(100).count(), 100);
        assert_eq!(Look::after(9, SMALL_WORDS).indices(100).count(), 100);
    }

    #[test]
    fn a_read_that_skips_a_word_is_invalid() {
        block(1024, |words, all| {
            let mut body = Read::new(kernels::vector(), words, all);
            let loaded = body.batch(3);
            assert_eq!(body.verify(3, loaded), Ok(all));
            let skipped = loaded ^ pattern::word(5);
            assert!(matches!(body.verify(3, skipped), Err(Failure::Invalid(_))));
            assert!(matches!(body.verify(4, loaded), Err(Failure::Invalid(_))));
        });
    }

    #[test]
    fn a_write_that_leaves_a_word_out_is_invalid() {
        block(1024, |words, _| {
            let mut body = Write::new(kernels::vector(), words);
            let last = body.batch(2);
            let checksum = body.verify(2, last).unwrap();
            let last = body.batch(5);
            assert_eq!(body.verify(5, last), Ok(checksum), "whatever the batch");
            let last = body.batch(1);
            body.block[1000] -= 1;
            assert!(matches!(body.verify(1, last), Err(Failure::Invalid(_))));
            assert!(matches!(body.check_all(), Err(Failure::Invalid(_))));
            let before = body.value;
            assert!(matches!(body.verify(1, before), Err(Failure::Invalid(_))));
        });
    }

    #[test]
    fn a_copy_that_is_not_done_is_invalid() {
        block(2048, |words, _| {
            let (source, target) = words.split_at_mut(1024);
            let mut body = Copy::new(kernels::vector(), source, target, 77);
            for _ in 0..2 {
                body.prepare(4).unwrap();
                let returned = body.batch(4);
                assert_eq!(body.verify(4, returned), Ok(77));
            }
            body.prepare(4).unwrap();
            assert!(matches!(body.verify(4, 4), Err(Failure::Invalid(_))));
        });
    }

    #[test]
    fn a_case_without_a_batch_has_nothing_to_check() {
        block(2048, |words, _| {
            let (source, target) = words.split_at_mut(1024);
            assert_eq!(
                Copy::new(kernels::scalar(), source, target, 0).check_all(),
                Ok(())
            );
            assert_eq!(Write::new(kernels::scalar(), source).check_all(), Ok(()));
        });
    }
}
