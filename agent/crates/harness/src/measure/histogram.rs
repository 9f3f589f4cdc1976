//! Many raw values of one round, counted in buckets that are so narrow that nothing is lost that a
//! comparison could use. The rule is that of HdrHistogram with a least value of 1 and three
//! significant digits (hdrhistogram.org), so that any implementation of it can read the counts.

use std::collections::BTreeMap;

/// Decimal digits that a bucket keeps of its values.
pub const SIGNIFICANT_DIGITS: u32 = 3;
/// Buckets for each doubling, as a power of two: the least that keeps the digits.
const PARTS_LOG2: u32 = 10;

/// Counts of values, each a whole number of the unit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: BTreeMap<u64, u64>,
    count: u64,
    lowest: u64,
    highest: u64,
}

impl Histogram {
    pub fn record(&mut self, value: u64) {
        self.lowest = if self.count == 0 {
            value
        } else {
            self.lowest.min(value)
        };
        self.highest = self.highest.max(value);
        self.count += 1;
        *self.counts.entry(upper_bound(value)).or_default() += 1;
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// The least and the greatest value, exact; 0 and 0 without values.
    pub fn limits(&self) -> (u64, u64) {
        (self.lowest, self.highest)
    }

    /// The greatest value that a bucket can hold and the values in it, ascending, without those
    /// that are empty.
    pub fn buckets(&self) -> Vec<(u64, u64)> {
        self.counts.iter().map(|(&b, &n)| (b, n)).collect()
    }
}

impl FromIterator<u64> for Histogram {
    fn from_iter<I: IntoIterator<Item = u64>>(values: I) -> Self {
        let mut histogram = Self::default();
        values.into_iter().for_each(|value| histogram.record(value));
        histogram
    }
}

/// The greatest value of the bucket that holds `value`.
fn upper_bound(value: u64) -> u64 {
    let width = 1
        << value
            .checked_ilog2()
            .unwrap_or(0)
            .saturating_sub(PARTS_LOG2);
    value / width * width + (width - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bucket_is_wider_than_a_thousandth_of_its_values() {
        let large = [1 << 40, (1 << 40) + 12_345, u64::MAX - 1, u64::MAX];
        for value in (0..100_000).chain(large) {
            let upper = upper_bound(value);
            assert!(upper >= value && upper_bound(upper) == upper, "{value}");
            assert!((upper - value) as f64 <= value as f64 * 1e-3, "{value}");
        }
    }

    #[test]
    fn the_bounds_are_those_of_hdrhistogram() {
        // highestEquivalentValue of HdrHistogram(1, 3600000000000, 3).
        for (value, expected) in [
            (1, 1),
            (2047, 2047),
            (2048, 2049),
            (10_000, 10_007),
            (1_000_000, 1_000_447),
            (123_456_789, 123_469_823),
        ] {
            assert_eq!(upper_bound(value), expected, "{value}");
        }
    }

    #[test]
    fn every_value_is_counted_once_and_the_limits_are_exact() {
        let histogram: Histogram = [40_961, 2048, 2049, 1830, 2049].into_iter().collect();
        assert_eq!(histogram.count(), 5);
        assert_eq!(histogram.limits(), (1830, 40_961));
        assert_eq!(histogram.buckets(), [(1830, 1), (2049, 3), (40_991, 1)]);
    }
}
