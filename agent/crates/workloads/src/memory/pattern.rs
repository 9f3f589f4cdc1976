//! What a block holds: words that are all different.

/// 2^64 divided by the golden ratio, odd: its multiples repeat only after 2^64 words.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The word at `index`.
#[inline]
pub fn word(index: usize) -> u64 {
    (index as u64 + 1).wrapping_mul(STEP)
}

/// Writes the pattern; returns the exclusive or of what was written.
pub fn fill(block: &mut [u64]) -> u64 {
    let mut all = 0;
    for (index, slot) in block.iter_mut().enumerate() {
        *slot = word(index);
        all ^= *slot;
    }
    all
}

/// The exclusive or of the first so many words.
pub fn of(words: usize) -> u64 {
    (0..words).fold(0, |all, index| all ^ word(index))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_differ_and_are_added_up() {
        let mut block = vec![0; 70_001];
        let all = fill(&mut block);
        assert_eq!(all, block.iter().fold(0, |all, &word| all ^ word));
        assert_eq!(all, of(block.len()));
        block.sort_unstable();
        block.dedup();
        assert_eq!(block.len(), 70_001);
    }

    #[test]
    fn the_published_block_sizes_add_up_to_different_values() {
        let mut block = vec![0; (4 << 20) / 8];
        let mut sums: Vec<_> = (10..=22)
            .map(|log| fill(&mut block[..(1 << log) / 8]))
            .collect();
        sums.sort_unstable();
        sums.dedup();
        assert_eq!(sums.len(), 13, "{sums:x?}");
        assert_ne!(sums[0], 0);
    }
}
