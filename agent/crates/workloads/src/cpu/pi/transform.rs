//! The transform under the big multiplication: a weighted complex FFT of a power of two.
//!
//! Two real sequences of together at most 2n values are multiplied in the ring of polynomials
//! modulo x^n − i (the "right-angle" convolution: R. Crandall, C. Pomerance, Prime Numbers,
//! algorithm 9.5.x): the lower half of a real polynomial is the real part, the upper half the
//! imaginary part. The forward transform splits x^n − r into its factors down to degree 1, the
//! inverse puts them together again, so no reordering and no separate weights are needed.

use super::kernels::Kernels;

/// Points below which one call does all remaining levels: they fit in a first-level cache.
const LEAF: usize = 1024;

/// A sequence of complex numbers, real and imaginary parts apart.
#[derive(Debug, Default, Clone)]
pub struct Complex {
    pub re: Vec<f64>,
    pub im: Vec<f64>,
}

impl Complex {
    pub fn resize(&mut self, points: usize) {
        self.re.resize(points, 0.0);
        self.im.resize(points, 0.0);
    }
}

/// The square-root constants of one level of the factor tree: x^m − r has, at node `k` of level
/// `L`, r = exp(2πi·t) with t = (1/4 + bits of k reversed) / 2^L.
#[derive(Debug, Default)]
struct Level {
    re: Vec<f64>,
    im: Vec<f64>,
}

impl Level {
    /// The fourth roots of the nodes' constants: what a pass of radix 4 needs.
    fn fourth_roots(level: u32) -> Self {
        let nodes = 1usize << level;
        let mut roots = Self::default();
        for node in 0..nodes {
            let reversed = if level == 0 {
                0
            } else {
                node.reverse_bits() >> (usize::BITS - level)
            };
            let turns = (0.25 + reversed as f64) / nodes as f64;
            let (sine, cosine) = (std::f64::consts::TAU * turns / 4.0).sin_cos();
            roots.re.push(cosine);
            roots.im.push(sine);
        }
        roots
    }
}

/// Transforms of every size up to the largest requested so far.
pub struct Transforms {
    kernels: Kernels,
    levels: Vec<Level>,
}

impl Transforms {
    pub fn new(kernels: Kernels) -> Self {
        Self {
            kernels,
            levels: Vec::new(),
        }
    }

    pub fn kernels(&self) -> &Kernels {
        &self.kernels
    }

    /// Makes the constants for transforms of `points`, a power of two of at least 4.
    pub fn prepare(&mut self, points: usize) {
        assert!(points.is_power_of_two() && points >= 4);
        for level in self.levels.len() as u32..points.trailing_zeros() - 1 {
            self.levels.push(Level::fourth_roots(level));
        }
    }

    /// Values of the polynomial at the n-th roots of i, in the tree's order.
    pub fn forward(&self, data: &mut Complex) {
        let Complex { re, im } = data;
        if re.len().trailing_zeros() % 2 == 1 {
            let half = re.len() / 2;
            let (w_re, w_im) = top();
            (self.kernels.forward2)(re, im, w_re, w_im);
            let (re0, re1) = re.split_at_mut(half);
            let (im0, im1) = im.split_at_mut(half);
            self.split(re0, im0, 1, 0);
            self.split(re1, im1, 1, 1);
        } else {
            self.split(re, im, 0, 0);
        }
    }

    /// The polynomial again, times n.
    pub fn inverse(&self, data: &mut Complex) {
        let Complex { re, im } = data;
        if re.len().trailing_zeros() % 2 == 1 {
            let half = re.len() / 2;
            let (re0, re1) = re.split_at_mut(half);
            let (im0, im1) = im.split_at_mut(half);
            self.join(re0, im0, 1, 0);
            self.join(re1, im1, 1, 1);
            let (w_re, w_im) = top();
            (self.kernels.inverse2)(re, im, w_re, w_im);
        } else {
            self.join(re, im, 0, 0);
        }
    }

    fn split(&self, re: &mut [f64], im: &mut [f64], level: usize, node: usize) {
        if re.len() <= LEAF {
            return self.leaf(re, im, level, node, self.kernels.forward4, true);
        }
        let w = &self.levels[level];
        (self.kernels.forward4)(re, im, &w.re[node..=node], &w.im[node..=node]);
        let quarter = re.len() / 4;
        let parts = re
            .chunks_exact_mut(quarter)
            .zip(im.chunks_exact_mut(quarter));
        for (part, (re, im)) in parts.enumerate() {
            self.split(re, im, level + 2, 4 * node + part);
        }
    }

    fn join(&self, re: &mut [f64], im: &mut [f64], level: usize, node: usize) {
        if re.len() <= LEAF {
            return self.leaf(re, im, level, node, self.kernels.inverse4, false);
        }
        let quarter = re.len() / 4;
        let parts = re
            .chunks_exact_mut(quarter)
            .zip(im.chunks_exact_mut(quarter));
        for (part, (re, im)) in parts.enumerate() {
            self.join(re, im, level + 2, 4 * node + part);
        }
        let w = &self.levels[level];
        (self.kernels.inverse4)(re, im, &w.re[node..=node], &w.im[node..=node]);
    }

    /// All levels of a small block, one pass after the other.
    fn leaf(
        &self,
        re: &mut [f64],
        im: &mut [f64],
        level: usize,
        node: usize,
        pass: super::kernels::Pass4,
        forward: bool,
    ) {
        let passes = re.len().trailing_zeros() as usize / 2;
        for step in 0..passes {
            let depth = 2 * if forward { step } else { passes - 1 - step };
            let w = &self.levels[level + depth];
            let nodes = (node << depth)..((node + 1) << depth);
            pass(re, im, &w.re[nodes.clone()], &w.im[nodes]);
        }
    }
}

/// The square root of i.
fn top() -> (f64, f64) {
    (
        std::f64::consts::FRAC_1_SQRT_2,
        std::f64::consts::FRAC_1_SQRT_2,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transforms() -> Vec<Transforms> {
        Kernels::all().into_iter().map(Transforms::new).collect()
    }

    fn sequence(points: usize, seed: u64) -> Complex {
        let mut state = seed;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            f64::from((state >> 40) as i32 % 1000 - 500)
        };
        Complex {
            re: (0..points).map(|_| next()).collect(),
            im: (0..points).map(|_| next()).collect(),
        }
    }

    #[test]
    fn the_inverse_gives_the_sequence_back_at_every_size() {
        for mut transforms in transforms() {
            for points in [4, 8, 64, 128, 1024, 2048, 4096, 1 << 15] {
                transforms.prepare(points);
                let original = sequence(points, 7);
                let mut data = original.clone();
                transforms.forward(&mut data);
                assert_ne!(data.re, original.re);
                transforms.inverse(&mut data);
                let scale = points as f64;
                for (a, b) in data.re.iter().zip(&original.re) {
                    assert!((a / scale - b).abs() < 1e-9, "{points}: {a} {b}");
                }
                for (a, b) in data.im.iter().zip(&original.im) {
                    assert!((a / scale - b).abs() < 1e-9, "{points}: {a} {b}");
                }
            }
        }
    }

    #[test]
    fn products_of_values_are_values_of_the_product_modulo_x_n_minus_i() {
        for mut transforms in transforms() {
            for points in [4usize, 8, 32, 2048] {
                transforms.prepare(points);
                let a = sequence(points, 1);
                let b = sequence(points, 2);
                let mut expected = vec![(0.0, 0.0); points];
                for i in 0..points {
                    for j in 0..points {
                        let re = a.re[i] * b.re[j] - a.im[i] * b.im[j];
                        let im = a.re[i] * b.im[j] + a.im[i] * b.re[j];
                        let at = &mut expected[(i + j) % points];
                        // x^n = i turns the overflow by a quarter.
                        let turned = if i + j < points { (re, im) } else { (-im, re) };
                        *at = (at.0 + turned.0, at.1 + turned.1);
                    }
                }
                let (mut x, mut y) = (a, b);
                transforms.forward(&mut x);
                transforms.forward(&mut y);
                (transforms.kernels().multiply)(&mut x.re, &mut x.im, &y.re, &y.im);
                transforms.inverse(&mut x);
                for (k, (re, im)) in expected.into_iter().enumerate() {
                    assert!((x.re[k] / points as f64 - re).abs() < 1e-3, "{points} {k}");
                    assert!((x.im[k] / points as f64 - im).abs() < 1e-3, "{points} {k}");
                }
            }
        }
    }
}
