//! What a block holds: words that are all different, with a sum that is known without adding them.

/// 2^64 divided by the golden ratio, odd: its multiples repeat only after 2^64 words.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The word at `index`.
#[inline]
pub fn word(index: usize) -> u64 {
    (index as u64 + 1).wrapping_mul(STEP)
}

/// The wrapping sum of the first `words` words.
pub fn sum(words: usize) -> u64 {
    let words = words as u128;
    ((words * (words + 1) / 2) as u64).wrapping_mul(STEP)
}

/// Writes the pattern.
pub fn fill(block: &mut [u64]) {
    for (index, slot) in block.iter_mut().enumerate() {
        *slot = word(index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_in_closed_form_is_the_sum() {
        for words in [1, 2, 7, 128, 4096, 70_001] {
            let mut block = vec![0; words];
            fill(&mut block);
            let added = block.iter().fold(0u64, |sum, &word| sum.wrapping_add(word));
            assert_eq!(sum(words), added, "{words}");
        }
    }

    #[test]
    fn large_blocks_do_not_overflow() {
        // 2^37 words are 1 TiB: n (n + 1) / 2 needs 73 bits.
        let words = 1usize << 37;
        let half = ((words as u64) / 2).wrapping_mul(words as u64 + 1);
        assert_eq!(sum(words), half.wrapping_mul(STEP));
    }
}
