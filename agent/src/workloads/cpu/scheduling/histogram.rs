//! Order statistics of raw values, and a histogram whose buckets are an eighth of an octave wide.

use serde_json::{json, Value};

/// Buckets for each doubling.
const PARTS: u64 = 8;

/// Durations in ns, in ascending order.
pub struct Sorted(Vec<f64>);

impl Sorted {
    /// There is at least one value, and each is a number.
    pub fn new(mut values: Vec<f64>) -> Self {
        assert!(!values.is_empty());
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    /// The smallest value that at least the share `quantile` of the values do not exceed: a value
    /// that was measured, never one between two.
    pub fn quantile(&self, quantile: f64) -> f64 {
        let rank = (quantile * self.0.len() as f64).ceil() as usize;
        self.0[rank.clamp(1, self.0.len()) - 1]
    }

    /// `{"unit": "ns", "count": n, "buckets": [[lower bound, values], …]}`; empty buckets are left
    /// out.
    pub fn histogram(&self) -> Value {
        let mut buckets: Vec<(u64, u64)> = Vec::new();
        for &value in &self.0 {
            let lower = lower_bound(value.max(0.0) as u64);
            match buckets.last_mut() {
                Some((bound, count)) if *bound == lower => *count += 1,
                _ => buckets.push((lower, 1)),
            }
        }
        json!({"unit": "ns", "count": self.0.len(), "buckets": buckets})
    }
}

/// The lower bound of the bucket of a value.
fn lower_bound(value: u64) -> u64 {
    if value < PARTS {
        return value;
    }
    let width = 1 << (value.ilog2() - PARTS.ilog2());
    value / width * width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_measured_values() {
        let sorted = Sorted::new((1..=200).rev().map(f64::from).collect());
        for (quantile, expected) in [(0.5, 100.0), (0.99, 198.0), (0.999, 200.0), (1.0, 200.0)] {
            assert_eq!(sorted.quantile(quantile), expected);
        }
        assert_eq!(Sorted::new(vec![7.0]).quantile(0.5), 7.0);
    }

    #[test]
    fn every_value_is_in_the_bucket_that_holds_it() {
        for value in (0..5000).chain([1 << 40, (1 << 40) + 12_345]) {
            let lower = lower_bound(value);
            assert!(lower <= value && lower_bound(lower) == lower);
            // No bucket is wider than an eighth of its bound.
            assert!(value - lower <= lower / PARTS, "{value} {lower}");
        }
        let histogram = Sorted::new(vec![3.0, 100.0, 101.0, 5000.0]).histogram();
        assert_eq!(histogram["count"], 4);
        assert_eq!(histogram["buckets"], json!([[3, 1], [96, 2], [4608, 1]]));
    }
}
