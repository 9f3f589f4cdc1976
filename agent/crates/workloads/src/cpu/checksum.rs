//! Checksums of results.

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo) over 64-bit words: one step for each word, so that
/// megabytes are summed quickly; the shift lets high bits reach low ones.
pub fn of_words(words: impl IntoIterator<Item = u64>) -> u64 {
    words.into_iter().fold(OFFSET, |sum, word| {
        let mixed = (sum ^ word).wrapping_mul(PRIME);
        mixed ^ (mixed >> 32)
    })
}

/// The same over bytes, taken eight at a time, with their number at the end.
pub fn of_bytes(bytes: &[u8]) -> u64 {
    let chunks = bytes.chunks_exact(8);
    let mut rest = [0; 8];
    rest[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    let words = chunks.map(|chunk| u64::from_le_bytes(chunk.try_into().expect("eight bytes")));
    of_words(words.chain([u64::from_le_bytes(rest), bytes.len() as u64]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_and_the_length_count() {
        let bytes: Vec<u8> = (0..=40).collect();
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 0x80;
            assert_ne!(of_bytes(&bytes), of_bytes(&other));
        }
        assert_ne!(of_bytes(&[0; 3]), of_bytes(&[0; 4]));
    }
}
