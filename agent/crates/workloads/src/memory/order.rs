//! A random order of lines, the same on every system for one seed.

/// The splitmix64 generator (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
/// 2014), the one that seeds most others.
pub struct Generator(u64);

impl Generator {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; the bias is below `bound` / 2^64.
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

/// The numbers below `count` in random order (Fisher and Yates).
///
/// Closed into a ring, such an order is one cycle through all of them, each cycle as likely as any
/// other: what Sattolo's algorithm yields too, but here each number's place in the ring is known.
pub fn shuffled(count: u32, seed: u64) -> Vec<u32> {
    let mut generator = Generator::new(seed ^ u64::from(count));
    let mut order: Vec<u32> = (0..count).collect();
    for last in (1..order.len()).rev() {
        let other = generator.below(last as u64 + 1) as usize;
        order.swap(last, other);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_the_published_numbers() {
        // First outputs of splitmix64.c for the seed 1234567.
        let mut generator = Generator::new(1_234_567);
        assert_eq!(generator.next(), 6_457_827_717_110_365_317);
        assert_eq!(generator.next(), 3_203_168_211_198_807_973);
        assert_eq!(generator.next(), 9_817_491_932_198_370_423);
    }

    #[test]
    fn an_order_holds_every_number_once() {
        for count in [1, 2, 3, 16, 17, 1000, 4096] {
            let mut order = shuffled(count, 7);
            order.sort_unstable();
            assert!(order.iter().enumerate().all(|(i, &n)| i as u32 == n));
        }
    }

    #[test]
    fn the_seed_decides_the_order() {
        assert_eq!(shuffled(100, 1), shuffled(100, 1));
        assert_ne!(shuffled(100, 1), shuffled(100, 2));
    }

    #[test]
    fn every_order_of_four_is_about_as_likely() {
        let mut seen = std::collections::BTreeMap::new();
        const DRAWS: u64 = 24_000;
        for seed in 0..DRAWS {
            // Consecutive seeds are independent: splitmix64 mixes them.
            *seen.entry(shuffled(4, seed * 1_000_003)).or_insert(0u64) += 1;
        }
        assert_eq!(seen.len(), 24);
        // Expected 1000 each, standard deviation 31.
        assert!(seen.values().all(|n| (800..1200).contains(n)), "{seen:?}");
    }
}
