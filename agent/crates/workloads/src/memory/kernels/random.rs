//! Loads of random words of a block, none of which waits for another.
//!
//! Four generators take turns, so that the next address is known before the last load is done.

use super::super::order::Generator;
use super::super::pattern;

/// Generators that run side by side, and accesses of one turn of all of them.
pub const LANES: usize = 4;

/// Multiplier and increment of Knuth's MMIX generator (The Art of Computer Programming vol. 2,
/// 3.3.4, table 1); only its upper half, which is the random one, is used.
const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
const INCREMENT: u64 = 1_442_695_040_888_963_407;

/// Where the generators stand.
pub type State = [u64; LANES];

/// Generators that start apart from each other.
pub fn start(seed: u64) -> State {
    let mut generator = Generator::new(seed);
    std::array::from_fn(|_| generator.next())
}

/// Most words of a block: an index is the upper half of a state, scaled.
pub const MOST_WORDS: usize = u32::MAX as usize;

#[inline(always)]
fn advance(state: &mut u64, words: u64) -> usize {
    *state = state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
    (((*state >> 32) * words) >> 32) as usize
}

/// Loads `turns` times [`LANES`] words; returns their wrapping sum.
#[inline(never)]
pub fn load(block: &[u64], turns: u64, state: &mut State) -> u64 {
    // A comparison of each index with the block's end takes so many registers that sums are kept in
    // memory: a thirtieth of the accesses in the second cache.
    walk(block.len(), turns, state, |index| {
        debug_assert!(index < block.len());
        // SAFETY: `advance` scales half a state, which is less than 2^32, by the number of words and
        // divides by 2^32, so that every index is less than that number.
        unsafe { *block.get_unchecked(index) }
    })
}

/// What [`load`] returns from a block that holds the pattern, computed without the block.
pub fn expected(words: usize, turns: u64, state: &mut State) -> u64 {
    walk(words, turns, state, pattern::word)
}

#[inline(always)]
fn walk(words: usize, turns: u64, state: &mut State, word: impl Fn(usize) -> u64) -> u64 {
    assert!((1..=MOST_WORDS).contains(&words), "1 to 2^32 - 1 words");
    let words = words as u64;
    let mut sums = [0u64; LANES];
    let mut lanes = *state;
    for _ in 0..turns {
        for lane in 0..LANES {
            sums[lane] = sums[lane].wrapping_add(word(advance(&mut lanes[lane], words)));
        }
    }
    *state = lanes;
    sums.into_iter().fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_loaded_about_equally_often() {
        const WORDS: usize = 24;
        let mut counts = [0u32; WORDS];
        for seed in 0..100 {
            let mut state = start(seed);
            for _ in 0..240 {
                for lane in &mut state {
                    counts[advance(lane, WORDS as u64)] += 1;
                }
            }
        }
        // Expected 4000 each, standard deviation 63.
        assert!(
            counts.iter().all(|n| (3600..4400).contains(n)),
            "{counts:?}"
        );
    }

    #[test]
    fn the_sum_is_that_of_the_words_loaded_and_goes_on() {
        let mut block = vec![0; 1000];
        pattern::fill(&mut block);
        let (mut loaded, mut computed) = (start(7), start(7));
        for turns in [0, 1, 250, 999] {
            let sum = load(&block, turns, &mut loaded);
            assert_eq!(sum, expected(block.len(), turns, &mut computed));
        }
        assert_eq!(loaded, computed);
        assert_ne!(loaded, start(7), "it does not start again");
        block.fill(0);
        assert_eq!(load(&block, 100, &mut start(7)), 0);
        assert_ne!(expected(block.len(), 100, &mut start(7)), 0);
    }
}
