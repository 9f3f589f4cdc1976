//! One region for all block sizes of a process: small blocks are the beginning of large ones, so
//! that every page is taken from the system once.

use super::available;
use pentathlon_harness::measure::Failure;
use pentathlon_os::region::{Pages, Region, ALIGNMENT};

pub struct Arena {
    region: Region,
    bytes: usize,
    touched: usize,
    /// What the touched part is rounded up to.
    granule: usize,
}

impl Arena {
    /// Reserves address space for the largest of `sizes` that the system grants.
    pub fn new(sizes: &[usize], pages: Pages) -> Result<Self, Failure> {
        let granule = match pages {
            Pages::Huge => ALIGNMENT,
            Pages::Default | Pages::Base => super::sizes::LINE_BYTES,
        };
        let mut sizes: Vec<usize> = sizes.iter().map(|s| s.next_multiple_of(granule)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let mut refusal = None;
        for &bytes in sizes.iter().rev() {
            match Region::reserve(bytes, pages) {
                Ok(region) => {
                    return Ok(Self {
                        region,
                        bytes,
                        touched: 0,
                        granule,
                    })
                }
                Err(error) => {
                    refusal.get_or_insert(error);
                }
            }
        }
        let refusal = refusal.expect("at least one size");
        Err(Failure::Unsupported(match pages {
            Pages::Huge => format!("the system has no transparent huge pages: {refusal}"),
            Pages::Default | Pages::Base => format!("the system does not map memory: {refusal}"),
        }))
    }

    /// The first `bytes`, with pages behind them. `beside`: what the caller is about to take from
    /// the system besides.
    pub fn block(&mut self, bytes: usize, beside: usize) -> Result<&mut [u64], Failure> {
        let wanted = bytes.next_multiple_of(self.granule);
        if wanted > self.bytes {
            return Err(Failure::Unsupported(format!(
                "the system does not map {bytes} B at once, {} B was the most",
                self.bytes
            )));
        }
        let new = self.missing(bytes);
        let need = (new + beside) as u64;
        if let Some(available) = available::bytes().filter(|&bytes| need > bytes) {
            return Err(Failure::Unsupported(format!(
                "the block needs {need} B more, the system can spare {available} B"
            )));
        }
        if new > 0 {
            self.region.touch(wanted).map_err(|error| {
                Failure::Unsupported(format!("the system has no pages for {bytes} B: {error}"))
            })?;
            self.touched = wanted;
        }
        Ok(&mut self.region.words()[..bytes / 8])
    }

    /// How many bytes the system has yet to give for a block of `bytes`.
    pub fn missing(&self, bytes: usize) -> usize {
        bytes
            .next_multiple_of(self.granule)
            .saturating_sub(self.touched)
    }

    /// Addresses that have pages behind them.
    pub fn touched(&self) -> std::ops::Range<usize> {
        let start = self.region.addresses().start;
        start..start + self.touched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_blocks_are_the_beginning_of_large_ones() {
        let mut arena = Arena::new(&[4096, 65536, 1024], Pages::Default).unwrap();
        arena.block(4096, 0).unwrap().fill(3);
        let large = arena.block(65536, 0).unwrap();
        assert_eq!(large.len(), 8192);
        assert!(large[..512].iter().all(|&word| word == 3));
        assert!(large[512..].iter().all(|&word| word == 0));
        assert_eq!(arena.block(1024, 0).unwrap().len(), 128);
        assert_eq!(arena.touched().len(), 65536);
    }

    #[test]
    fn what_does_not_fit_is_unsupported_and_the_rest_goes_on() {
        let too_much = 1usize << 45;
        let mut arena = Arena::new(&[4096, too_much], Pages::Default).unwrap();
        let refusal = arena.block(too_much, 0);
        assert!(
            matches!(&refusal, Err(Failure::Unsupported(reason)) if reason.contains("B")),
            "{refusal:?}"
        );
        assert!(arena.block(4096, 0).is_ok());
        if available::bytes().is_some() {
            assert!(arena.block(4096, too_much).is_err(), "beside counts");
        }
    }
}
