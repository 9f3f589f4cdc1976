//! What the files hold: bytes from a seed that neither compress nor repeat by blocks, and that report
//! for every page where it belongs and when it was written.
//!
//! A window of random bytes repeats over the file; the first eight bytes of every 4 KiB are a
//! stamp made of seed, position and generation. A read is proven while it is timed by summing the
//! stamps that it brought, one load for each 4 KiB; the whole content is compared afterwards.

use pentathlon_harness::Random;

/// Distance of the stamps: no file system stores in smaller blocks by default, so no block repeats.
pub const STAMPED: u64 = 4096;
const WINDOW: usize = 1 << 20;
const STAMP_BYTES: usize = 8;

/// Content of one file over its generations: each write from the start of the file raises its own.
#[derive(Debug, Clone)]
pub struct Content {
    seed: u64,
    /// The window, repeated to the longest part that is handed out, at an address fit for direct
    /// input and output.
    base: Aligned,
    /// End and generation of the file's parts, in order.
    generations: Vec<(u64, u64)>,
}

impl Content {
    /// Content of which parts of up to `longest` bytes can be had.
    pub fn new(seed: u64, longest: usize) -> Self {
        let mut random = Random::new(seed);
        let mut base = Aligned::new(WINDOW + longest.max(STAMPED as usize));
        let (window, rest) = base.bytes_mut().split_at_mut(WINDOW);
        for word in window.chunks_exact_mut(8) {
            word.copy_from_slice(&random.next().to_le_bytes());
        }
        for part in rest.chunks_mut(WINDOW) {
            part.copy_from_slice(&window[..part.len()]);
        }
        Self {
            seed,
            base,
            generations: Vec::new(),
        }
    }

    /// Notes that the first `bytes` of the file are now of a new generation.
    pub fn rewritten(&mut self, bytes: u64, generation: u64) {
        self.generations.retain(|&(end, _)| end > bytes);
        self.generations.insert(0, (bytes, generation));
    }

    fn generation(&self, position: u64) -> u64 {
        self.generations
            .iter()
            .find(|&&(end, _)| position < end)
            .map_or(0, |&(_, generation)| generation)
    }

    /// The eight bytes at the beginning of the page at `position`.
    pub fn stamp(&self, position: u64, generation: u64) -> u64 {
        // Golden-ratio steps of the generator's own state give unrelated outputs.
        Random::new(self.seed ^ position.rotate_left(32) ^ generation.rotate_left(56)).next()
    }

    /// The bytes that belong at `position` when it is written in `generation`.
    #[inline]
    pub fn fresh(&mut self, position: u64, length: usize, generation: u64) -> &[u8] {
        let start = (position % WINDOW as u64) as usize;
        let end = position + length as u64;
        // A part may begin or end inside a stamp.
        let mut at = position - position % STAMPED;
        while at < end {
            let stamp = self.stamp(at, generation).to_le_bytes();
            let (from, to) = (at.max(position), (at + STAMP_BYTES as u64).min(end));
            if from < to {
                let wanted = &stamp[(from - at) as usize..(to - at) as usize];
                let offset = start + (from - position) as usize;
                self.base.bytes_mut()[offset..offset + wanted.len()].copy_from_slice(wanted);
            }
            at += STAMPED;
        }
        &self.base.bytes()[start..start + length]
    }

    /// Whether `bytes` are what the file holds at `position`, after `change` was made to each.
    pub fn holds(&mut self, position: u64, bytes: &[u8], change: Option<fn(u8) -> u8>) -> bool {
        let mut rest = bytes;
        let mut at = position;
        while !rest.is_empty() {
            // Page by page, because a part may span generations; the stamp at the beginning of a
            // page gives that of the page.
            let left = STAMPED - at % STAMPED;
            let (part, later) = rest.split_at(rest.len().min(left as usize));
            let generation = self.generation(at - at % STAMPED);
            let wanted = self.fresh(at, part.len(), generation);
            let same = match change {
                None => wanted == part,
                Some(change) => wanted.iter().map(|&b| change(b)).eq(part.iter().copied()),
            };
            if !same {
                return false;
            }
            at += part.len() as u64;
            rest = later;
        }
        true
    }

    /// Sum of the stamps that a correct read of this part brings.
    pub fn expected(&self, position: u64, length: usize) -> u64 {
        stamps(position, length).fold(0, |sum, at| {
            sum.wrapping_add(self.stamp(at, self.generation(at)))
        })
    }

    /// A number that stands for seed and size of the file, whatever has been read of it.
    pub fn checksum(&self, file_bytes: u64) -> u64 {
        crate::cpu::checksum::of_words([self.stamp(file_bytes, 0), file_bytes])
    }
}

/// Sum of the stamps in `bytes`, read from `position`: one load for each 4 KiB.
#[inline]
pub fn observed(position: u64, bytes: &[u8]) -> u64 {
    let mut sum = 0u64;
    let mut offset = (position.wrapping_neg() % STAMPED) as usize;
    while let Some(stamp) = bytes.get(offset..offset + STAMP_BYTES) {
        sum = sum.wrapping_add(u64::from_le_bytes(stamp.try_into().expect("eight bytes")));
        offset += STAMPED as usize;
    }
    sum
}

/// Positions of the stamps that lie wholly in a part.
pub fn stamps(position: u64, length: usize) -> impl Iterator<Item = u64> {
    let end = position + length as u64;
    (position.next_multiple_of(STAMPED)..)
        .step_by(STAMPED as usize)
        .take_while(move |at| at + STAMP_BYTES as u64 <= end)
}

/// Bytes that begin on a page's boundary, as direct input and output requests.
#[derive(Debug, Clone)]
pub struct Aligned {
    data: Vec<u8>,
    skip: usize,
    length: usize,
}

impl Aligned {
    pub fn new(length: usize) -> Self {
        let data = vec![0; length + STAMPED as usize];
        let skip = data.as_ptr().align_offset(STAMPED as usize);
        Self { data, skip, length }
    }

    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.data[self.skip..self.skip + self.length]
    }

    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.data[self.skip..self.skip + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1024;

    fn file(content: &mut Content, bytes: usize, generation: u64) -> Vec<u8> {
        let written = content.fresh(0, bytes, generation).to_vec();
        content.rewritten(bytes as u64, generation);
        written
    }

    #[test]
    fn what_is_written_is_recognised_however_it_is_cut() {
        let mut content = Content::new(7, 3 << 20);
        let whole = file(&mut content, 3 << 20, 1);
        for (position, length) in [
            (0, 3 << 20),
            (1024, 1024),
            (4095, 2),
            ((1 << 20) - 100, 200),
            (5000, 123_457),
        ] {
            let part = &whole[position..position + length];
            assert!(
                content.holds(position as u64, part, None),
                "{position} {length}"
            );
            assert_eq!(
                observed(position as u64, part),
                content.expected(position as u64, length)
            );
        }
    }

    #[test]
    fn parts_made_one_by_one_are_the_parts_of_the_whole() {
        let mut content = Content::new(7, 1 << 20);
        let whole = file(&mut content, 1 << 20, 4);
        for chunk in [100, 512, 3 * KIB, 4 * KIB, 60 * KIB] {
            let mut position = 0;
            while position + chunk <= whole.len() {
                let part = content.fresh(position as u64, chunk, 4);
                assert!(part == &whole[position..position + chunk], "{position}");
                position += chunk;
            }
        }
    }

    #[test]
    fn a_wrong_byte_place_or_generation_is_noticed() {
        let mut content = Content::new(7, 64 * KIB);
        let mut whole = file(&mut content, 64 * KIB, 1);
        assert!(!content.holds(4096, &whole[8192..12_288], None));
        assert_ne!(
            observed(4096, &whole[8192..12_288]),
            content.expected(4096, 4096)
        );
        whole[33] ^= 1;
        assert!(!content.holds(0, &whole, None));
        whole[33] ^= 1;
        content.rewritten(8192, 2);
        assert!(!content.holds(0, &whole, None));
        assert_ne!(observed(0, &whole), content.expected(0, whole.len()));
        assert!(
            content.holds(8192, &whole[8192..], None),
            "the rest is older"
        );
    }

    #[test]
    fn no_block_of_4_kib_repeats_and_the_content_does_not_compress() {
        let mut content = Content::new(1, 8 << 20);
        let whole = file(&mut content, 8 << 20, 0);
        let blocks: std::collections::HashSet<_> = whole.chunks(4096).collect();
        assert_eq!(blocks.len(), 2048);
        let mut encoder =
            flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut encoder, &whole[..1 << 20]).unwrap();
        assert!(encoder.finish().unwrap().len() > 1 << 20);
    }

    #[test]
    fn aligned_bytes_are_aligned_and_as_many_as_asked() {
        for length in [1, 4096, 100_000] {
            let bytes = Aligned::new(length);
            assert_eq!(bytes.bytes().as_ptr() as usize % 4096, 0);
            assert_eq!(bytes.bytes().len(), length);
        }
    }
}
