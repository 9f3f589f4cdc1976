//! A random order of very many numbers without a list of them: a Feistel network over the next
//! power of four, walked until it falls inside (J. Black, P. Rogaway, CT-RSA 2002, cycle walking).

use pentathlon_harness::Random;

/// A permutation of `0..count`.
#[derive(Debug, Clone)]
pub struct Shuffle {
    count: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Shuffle {
    pub fn new(count: u64, seed: u64) -> Self {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        let mut random = Random::new(seed);
        Self {
            count,
            half_bits: bits.div_ceil(2).max(1),
            keys: std::array::from_fn(|_| random.next()),
        }
    }

    /// The number at place `n`, which is below the count.
    pub fn at(&self, n: u64) -> u64 {
        assert!(n < self.count, "inside the permutation");
        let mut number = self.step(n);
        while number >= self.count {
            number = self.step(number);
        }
        number
    }

    fn step(&self, number: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (number >> self.half_bits, number & mask);
        for key in self.keys {
            let mixed = Random::new(key ^ right).next() & mask;
            (left, right) = (right, left ^ mixed);
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once() {
        for count in [1, 2, 3, 5, 64, 1000, 4097] {
            let shuffle = Shuffle::new(count, 9);
            let mut seen: Vec<_> = (0..count).map(|n| shuffle.at(n)).collect();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..count), "{count}");
        }
    }

    #[test]
    fn seeds_give_different_orders() {
        let order = |seed| {
            let shuffle = Shuffle::new(100, seed);
            (0..100).map(|n| shuffle.at(n)).collect::<Vec<_>>()
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }
}
