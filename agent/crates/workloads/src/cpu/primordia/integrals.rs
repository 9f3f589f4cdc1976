//! The integrals over the basis: even-tempered Slater functions r^(l+1) e^(−ζr), made orthonormal.

use super::super::math::{exp, power};
use super::matrix::{eigen, Columns, Matrix};
use super::mesh::Mesh;

/// Directions in which the functions overlap so much that rounding would decide are left out.
const LEAST_OVERLAP: f64 = 1e-10;
/// Functions for each orbital quantum number, and the range of their exponents: the outer end for
/// valence electrons, the inner in units of the nuclear charge.
const FUNCTIONS: [usize; 3] = [24, 20, 16];
const OUTER: [f64; 3] = [0.3, 0.3, 0.3];
const INNER: [f64; 3] = [3.0, 2.0, 1.5];

/// Orthonormal functions of one orbital quantum number on the mesh.
pub struct Basis {
    pub l: usize,
    /// Function by function, its values at the radii.
    pub functions: Vec<Vec<f64>>,
    /// Kinetic energy and attraction by the nucleus.
    pub core: Matrix,
    pub kinetic: Matrix,
}

impl Basis {
    pub fn new(mesh: &Mesh, charge: u32, l: usize) -> Self {
        let (values, moving) = slater(mesh, charge, l);
        let overlap = products(mesh, &values, |_| 1.0);
        let (weights, vectors) = eigen(&overlap);
        let columns: Columns = weights
            .iter()
            .zip(vectors)
            .filter(|(weight, _)| **weight > LEAST_OVERLAP)
            .map(|(weight, vector)| vector.iter().map(|x| x / weight.sqrt()).collect())
            .collect();
        let functions = combine(&values, &columns);
        let moving = combine(&moving, &columns);
        let kinetic = Matrix::of(functions.len(), |i, j| {
            // Symmetric but for rounding, and then exactly.
            let one = |a: &[f64], b: &[f64]| mesh.integral(|p| a[p] * b[p]);
            0.5 * (one(&functions[i], &moving[j]) + one(&functions[j], &moving[i]))
        });
        let mut core = kinetic.clone();
        core.add(&products(mesh, &functions, |r| f64::from(charge) / r), -1.0);
        Self {
            l,
            functions,
            core,
            kinetic,
        }
    }

    pub fn size(&self) -> usize {
        self.functions.len()
    }

    /// A local potential, given on the mesh, between the functions.
    pub fn local(&self, mesh: &Mesh, potential: &[f64]) -> Matrix {
        let at = |i: usize, j: usize| {
            let (a, b) = (&self.functions[i], &self.functions[j]);
            mesh.integral(|p| a[p] * b[p] * potential[p])
        };
        Matrix::of(self.size(), at)
    }
}

/// Normalised Slater functions, and what the operator of kinetic energy makes of them: for
/// r^(l+1) e^(−ζr) the centrifugal term cancels, and (ζ(l+1)/r − ζ²/2) times it is left.
fn slater(mesh: &Mesh, charge: u32, l: usize) -> (Columns, Columns) {
    let count = FUNCTIONS[l];
    let inner = (INNER[l] * f64::from(charge)).max(100.0 * OUTER[l]);
    // The ratio's power is the whole range: its root by Newton's method.
    let range = inner / OUTER[l];
    let degree = count as i32 - 1;
    let mut ratio = 2.0f64;
    for _ in 0..200 {
        ratio -= (power(ratio, degree) - range) / (f64::from(degree) * power(ratio, degree - 1));
    }
    let mut values = Vec::new();
    let mut moving = Vec::new();
    let mut exponent = OUTER[l];
    for _ in 0..count {
        let plain = |r: f64| power(r, l as i32 + 1) * exp(-exponent * r);
        let squares = mesh.integral(|i| plain(mesh.radii[i]) * plain(mesh.radii[i]));
        let norm = 1.0 / squares.sqrt();
        let radii = mesh.radii.iter();
        values.push(radii.clone().map(|&r| norm * plain(r)).collect());
        let kinetic = |&r: &f64| norm * plain(r) * exponent * ((l + 1) as f64 / r - 0.5 * exponent);
        moving.push(radii.map(kinetic).collect());
        exponent *= ratio;
    }
    (values, moving)
}

fn combine(functions: &Columns, columns: &Columns) -> Columns {
    let points = functions[0].len();
    let one = |column: &Vec<f64>| {
        let mut sum = vec![0.0; points];
        for (function, factor) in functions.iter().zip(column) {
            for (value, part) in sum.iter_mut().zip(function) {
                *value += factor * part;
            }
        }
        sum
    };
    columns.iter().map(one).collect()
}

fn products(mesh: &Mesh, functions: &Columns, weight: impl Fn(f64) -> f64) -> Matrix {
    Matrix::of(functions.len(), |i, j| {
        let (a, b) = (&functions[i], &functions[j]);
        mesh.integral(|p| a[p] * b[p] * weight(mesh.radii[p]))
    })
}

/// J. C. Slater's integrals R^k of all pairs of functions of one kind with all of another:
/// ∫∫ a(r) b(r) min^k/max^(k+1) c(s) d(s), one row for each pair (a, b).
pub struct Repulsion {
    pub k: i32,
    columns: usize,
    values: Vec<f64>,
}

impl Repulsion {
    /// Pairs from `left.0 × left.1` with pairs from `right.0 × right.1`.
    pub fn new(mesh: &Mesh, left: (&Basis, &Basis), right: (&Basis, &Basis), k: i32) -> Self {
        let step = mesh.integral_weights();
        let densities = pairs(right.0, right.1);
        let columns = densities.len();
        let mut values = Vec::with_capacity(left.0.size() * left.1.size() * columns);
        for density in pairs(left.0, left.1) {
            let potential = mesh.potential(&density, k);
            let weighted: Vec<f64> = potential.iter().zip(&step).map(|(v, w)| v * w).collect();
            values.extend(densities.iter().map(|other| wide_dot(other, &weighted)));
        }
        Self { k, columns, values }
    }

    /// Σ over the right pairs, weighted by a density matrix of theirs: one value for each left
    /// pair.
    pub fn contract(&self, density: &[f64]) -> Vec<f64> {
        let rows = self.values.chunks_exact(self.columns);
        rows.map(|row| wide_dot(row, density)).collect()
    }

    /// Exchange between functions of the left kind: pairs are (a, m) and (b, n), and the sum runs
    /// over m and n, weighted by a density matrix of the right kind's functions.
    pub fn exchange(&self, size: usize, density: &Matrix) -> Matrix {
        let others = density.size;
        Matrix::of(size, |a, b| {
            let mut sum = 0.0;
            for m in 0..others {
                let row = &self.values[(a * others + m) * self.columns..][..self.columns];
                let part = &row[b * others..][..others];
                let weights = &density.values[m * others..][..others];
                sum += super::matrix::dot(part, weights);
            }
            sum
        })
    }
}

fn pairs(a: &Basis, b: &Basis) -> Vec<Vec<f64>> {
    let mut pairs = Vec::with_capacity(a.size() * b.size());
    for one in &a.functions {
        for other in &b.functions {
            pairs.push(one.iter().zip(other).map(|(x, y)| x * y).collect());
        }
    }
    pairs
}

/// A dot product in eight interleaved sums, always the same eight.
fn wide_dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest = super::matrix::dot(a_chunks.remainder(), b_chunks.remainder());
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::primordia::matrix::eigen;

    #[test]
    fn one_electron_has_the_levels_of_bohr() {
        for charge in [1, 10, 47] {
            let mesh = Mesh::new(charge);
            for l in 0..3 {
                // Hydrogen's d states reach beyond the basis' outermost functions.
                let accuracy = match (charge, l) {
                    (1, 2) => 2e-5,
                    (_, 2) => 1e-6,
                    _ => 1e-8,
                };
                let (levels, _) = eigen(&Basis::new(&mesh, charge, l).core);
                let n = (l + 1) as f64;
                let expected = -0.5 * f64::from(charge * charge) / (n * n);
                let off = (levels[0] - expected).abs() / expected.abs();
                assert!(
                    off < accuracy,
                    "charge {charge}, l {l}: {} {expected}",
                    levels[0]
                );
            }
        }
    }

    #[test]
    fn the_repulsion_of_hydrogens_ground_state_is_five_eighths() {
        let mesh = Mesh::new(1);
        let basis = Basis::new(&mesh, 1, 0);
        let (_, vectors) = eigen(&basis.core);
        let n = basis.size();
        let density = Matrix::of(n, |i, j| vectors[0][i] * vectors[0][j]);
        let repulsion = Repulsion::new(&mesh, (&basis, &basis), (&basis, &basis), 0);
        let direct =
            super::super::matrix::dot(&repulsion.contract(&density.values), &density.values);
        assert!((direct - 0.625).abs() < 1e-7, "{direct}");
        // One orbital's exchange with itself is its repulsion.
        let exchange = repulsion.exchange(n, &density).inner(&density);
        assert!((exchange - direct).abs() < 1e-9);
    }
}
