//! Functions with known minima to search (J. J. Moré, B. S. Garbow, K. E. Hillstrom, ACM
//! Transactions on Mathematical Software 7, 1981). Only sums and products, so the same bits come
//! out on every processor.

pub struct Function {
    pub name: &'static str,
    pub value: fn(&[f64]) -> f64,
    /// It is defined for multiples of so many dimensions.
    pub group: usize,
    /// The published start in so many dimensions.
    pub start: fn(usize) -> Vec<f64>,
    /// The coordinate, the same in every dimension, of the minimum; its value is 0.
    pub minimum: f64,
    /// How near each coordinate must come: Powell's function is flat around its minimum.
    pub tolerance: f64,
}

pub const FUNCTIONS: &[Function] = &[
    Function {
        name: "rosenbrock",
        value: rosenbrock,
        group: 2,
        start: |n| {
            (0..n)
                .map(|i| if i % 2 == 0 { -1.2 } else { 1.0 })
                .collect()
        },
        minimum: 1.0,
        tolerance: 1e-3,
    },
    Function {
        name: "powell",
        value: powell,
        group: 4,
        start: |n| [3.0, -1.0, 0.0, 1.0].into_iter().cycle().take(n).collect(),
        minimum: 0.0,
        tolerance: 1e-1,
    },
];

/// Problem 21, extended Rosenbrock: curved valleys, one for each pair of dimensions.
fn rosenbrock(x: &[f64]) -> f64 {
    let pairs = x.chunks_exact(2);
    pairs
        .map(|pair| {
            let (a, b) = (pair[1] - pair[0] * pair[0], 1.0 - pair[0]);
            100.0 * a * a + b * b
        })
        .sum()
}

/// Problem 22, extended Powell: its second derivatives are singular at the minimum.
fn powell(x: &[f64]) -> f64 {
    let fours = x.chunks_exact(4);
    fours
        .map(|x| {
            let (a, b) = (x[0] + 10.0 * x[1], x[2] - x[3]);
            let (c, d) = (x[1] - 2.0 * x[2], x[0] - x[3]);
            let (c, d) = (c * c, d * d);
            a * a + 5.0 * b * b + c * c + 10.0 * d * d
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_and_minima_have_the_published_values() {
        let [rosenbrock, powell] = FUNCTIONS else {
            panic!("two functions")
        };
        for pairs in [1, 10] {
            let start = (rosenbrock.value)(&(rosenbrock.start)(2 * pairs));
            assert!((start - 24.2 * pairs as f64).abs() < 1e-9);
        }
        assert_eq!((powell.value)(&(powell.start)(4)), 215.0);
        for function in FUNCTIONS {
            assert_eq!((function.value)(&[function.minimum; 20]), 0.0);
        }
    }
}
