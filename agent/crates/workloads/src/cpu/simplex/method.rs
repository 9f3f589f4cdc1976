//! The downhill simplex method of J. A. Nelder and R. Mead (The Computer Journal 7, 1965), with
//! the coefficients of F. Gao and L. Han (Computational Optimization and Applications 51, 2012),
//! which keep it going in many dimensions, and restarts, without which it can stop at a point that
//! is no minimum.

/// Where a search ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    pub point: Vec<f64>,
    pub value: f64,
    pub evaluations: u64,
}

/// Corners whose values differ by less than this share of them and of `SMALL` are one point to the
/// method.
const FLAT: f64 = 1e-14;
const SMALL: f64 = 1e-2;
/// A restart that improves the value by less than this ends the search.
const IMPROVEMENT: f64 = 1e-12;
const RESTARTS: u32 = 100;

/// Searches from `start`, with a first simplex of edges `step`.
pub fn minimise(
    function: impl Fn(&[f64]) -> f64,
    start: &[f64],
    step: f64,
    most_evaluations: u64,
) -> Minimum {
    let mut search = Search {
        function,
        evaluations: 0,
        most_evaluations,
    };
    let mut best = search.descend(start, step);
    let mut edge = step;
    for _ in 0..RESTARTS {
        edge = (edge * 0.5).max(1e-3);
        let next = search.descend(&best.point, edge);
        let gain = best.value - next.value;
        if next.value < best.value {
            best = next;
        }
        if gain <= IMPROVEMENT || search.spent() {
            break;
        }
    }
    best.evaluations = search.evaluations;
    best
}

struct Search<F> {
    function: F,
    evaluations: u64,
    most_evaluations: u64,
}

impl<F: Fn(&[f64]) -> f64> Search<F> {
    fn at(&mut self, point: &[f64]) -> f64 {
        self.evaluations += 1;
        (self.function)(point)
    }

    fn spent(&self) -> bool {
        self.evaluations >= self.most_evaluations
    }

    /// One descent, until the simplex is flat.
    fn descend(&mut self, start: &[f64], step: f64) -> Minimum {
        let n = start.len();
        let size = n as f64;
        let (reflection, expansion) = (1.0, 1.0 + 2.0 / size);
        let (contraction, shrinkage) = (0.75 - 0.5 / size, 1.0 - 1.0 / size);
        let mut corners: Vec<Vec<f64>> = vec![start.to_vec(); n + 1];
        for (axis, corner) in corners[1..].iter_mut().enumerate() {
            corner[axis] += step;
        }
        let mut values: Vec<f64> = corners.iter().map(|corner| self.at(corner)).collect();
        let mut sum: Vec<f64> = (0..n).map(|i| corners.iter().map(|c| c[i]).sum()).collect();
        let mut trial = vec![0.0; n];
        loop {
            let (lowest, second, highest) = order(&values);
            if values[highest] - values[lowest] <= FLAT * (values[highest] + SMALL) || self.spent()
            {
                return Minimum {
                    point: corners[lowest].clone(),
                    value: values[lowest],
                    evaluations: self.evaluations,
                };
            }
            let worst = &corners[highest];
            // Centre of all corners but the worst; away from the worst by `factor`.
            let along = |factor: f64, into: &mut Vec<f64>| {
                for i in 0..n {
                    let centre = (sum[i] - worst[i]) / size;
                    into[i] = centre + factor * (centre - worst[i]);
                }
            };
            along(reflection, &mut trial);
            let mut value = self.at(&trial);
            let reflected = value;
            if value < values[lowest] {
                let mut further = vec![0.0; n];
                along(expansion, &mut further);
                let expanded = self.at(&further);
                if expanded < value {
                    (trial, value) = (further, expanded);
                }
            } else if value >= values[second] {
                let inside = value >= values[highest];
                along(if inside { -contraction } else { contraction }, &mut trial);
                value = self.at(&trial);
                let bound = if inside { values[highest] } else { reflected };
                if value > bound {
                    self.shrink(&mut corners, &mut values, lowest, shrinkage);
                    sum = (0..n).map(|i| corners.iter().map(|c| c[i]).sum()).collect();
                    continue;
                }
            }
            for i in 0..n {
                sum[i] += trial[i] - corners[highest][i];
            }
            corners[highest].copy_from_slice(&trial);
            values[highest] = value;
        }
    }

    /// Draws every corner towards the best one.
    fn shrink(&mut self, corners: &mut [Vec<f64>], values: &mut [f64], lowest: usize, by: f64) {
        let best = corners[lowest].clone();
        for (index, corner) in corners.iter_mut().enumerate() {
            if index != lowest {
                for (x, b) in corner.iter_mut().zip(&best) {
                    *x = b + by * (*x - b);
                }
                values[index] = self.at(corner);
            }
        }
    }
}

/// The lowest, the second highest and the highest corner.
fn order(values: &[f64]) -> (usize, usize, usize) {
    let mut lowest = 0;
    let (mut second, mut highest) = if values[0] > values[1] {
        (1, 0)
    } else {
        (0, 1)
    };
    for (index, &value) in values.iter().enumerate() {
        if value < values[lowest] {
            lowest = index;
        }
        if value > values[highest] {
            second = highest;
            highest = index;
        } else if value > values[second] && index != highest {
            second = index;
        }
    }
    (lowest, second, highest)
}

#[cfg(test)]
mod tests {
    use super::super::functions::FUNCTIONS;
    use super::*;

    #[test]
    fn it_finds_the_known_minimum_of_every_function_in_2_to_24_dimensions() {
        for function in FUNCTIONS {
            for dimensions in [4, 8, 20, 24] {
                let start = (function.start)(dimensions);
                let found = minimise(function.value, &start, 1.0, 10_000_000);
                assert!(
                    found.value < 1e-8,
                    "{} in {dimensions}: {found:?}",
                    function.name
                );
            }
        }
    }

    #[test]
    fn the_search_ends_when_its_evaluations_are_spent() {
        let function = &FUNCTIONS[0];
        let found = minimise(function.value, &(function.start)(20), 1.0, 500);
        assert!(found.evaluations < 600, "{}", found.evaluations);
        assert!(found.value > 1e-8);
    }

    #[test]
    fn corners_are_ordered() {
        assert_eq!(order(&[3.0, 1.0, 2.0]), (1, 2, 0));
        assert_eq!(order(&[1.0, 2.0, 3.0, 2.5]), (0, 3, 2));
        assert_eq!(order(&[1.0, 2.0]), (0, 0, 1));
    }
}
