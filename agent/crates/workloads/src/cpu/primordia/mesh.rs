//! Radii on which functions are integrated: equal steps of the logarithm, on which the trapezoidal
//! rule is exact to rounding for functions that vanish smoothly at both ends.

use super::super::math::{exp, power};

const POINTS: usize = 900;
/// Largest radius, in Bohr radii.
const OUTERMOST: f64 = 80.0;

pub struct Mesh {
    pub radii: Vec<f64>,
    /// Step of the logarithm.
    step: f64,
}

impl Mesh {
    /// A mesh for an atom of nuclear charge `charge`.
    pub fn new(charge: u32) -> Self {
        // Down to where the innermost orbital's norm is below the last place.
        let innermost = 1e-6 / f64::from(charge);
        // ln(outermost / innermost), without a logarithm: Newton on its exponential.
        let ratio = OUTERMOST / innermost;
        let mut span = 18.0;
        for _ in 0..40 {
            span += ratio * exp(-span) - 1.0;
        }
        let step = span / (POINTS - 1) as f64;
        let radii = (0..POINTS)
            .map(|i| innermost * exp(i as f64 * step))
            .collect();
        Self { radii, step }
    }

    /// ∫ f dr.
    pub fn integral(&self, f: impl Fn(usize) -> f64) -> f64 {
        let sum: f64 = self.radii.iter().enumerate().map(|(i, r)| f(i) * r).sum();
        sum * self.step
    }

    /// The weight of each point in an integral.
    pub fn integral_weights(&self) -> Vec<f64> {
        self.radii.iter().map(|r| r * self.step).collect()
    }

    /// D. R. Hartree's function divided by r: the potential at r of the density f with the
    /// multipole of order k, ∫ f(s) min(r,s)^k / max(r,s)^(k+1) ds.
    pub fn potential(&self, f: &[f64], k: i32) -> Vec<f64> {
        let inner: Vec<f64> = self
            .radii
            .iter()
            .zip(f)
            .map(|(r, f)| f * power(*r, k + 1))
            .collect();
        let outer: Vec<f64> = self
            .radii
            .iter()
            .zip(f)
            .map(|(r, f)| f * power(*r, -k))
            .collect();
        let below = running(&inner, self.step);
        let mut above = running(&outer, self.step);
        let whole = above[above.len() - 1];
        above.iter_mut().for_each(|sum| *sum = whole - *sum);
        let at = |(i, r): (usize, &f64)| below[i] * power(*r, -k - 1) + above[i] * power(*r, k);
        self.radii.iter().enumerate().map(at).collect()
    }
}

/// The integral from the first point to each, by the six-point rule for one interval (error of
/// order step^7); near the ends, where the functions vanish, by the trapezoidal rule.
fn running(f: &[f64], step: f64) -> Vec<f64> {
    let mut sums = Vec::with_capacity(f.len());
    let mut sum = 0.0;
    sums.push(sum);
    for i in 1..f.len() {
        sum += if i >= 3 && i + 2 < f.len() {
            let (near, middle, far) = (f[i - 1] + f[i], f[i - 2] + f[i + 1], f[i - 3] + f[i + 2]);
            step * (802.0 * near - 93.0 * middle + 11.0 * far) / 1440.0
        } else {
            step * 0.5 * (f[i - 1] + f[i])
        };
        sums.push(sum);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrals_of_exponentials_are_factorials() {
        let mesh = Mesh::new(10);
        assert!((mesh.radii[POINTS - 1] / OUTERMOST - 1.0).abs() < 1e-10);
        for (n, factorial) in [(0, 1.0), (1, 1.0), (2, 2.0), (3, 6.0), (6, 720.0)] {
            let integral = mesh.integral(|i| power(mesh.radii[i], n) * exp(-mesh.radii[i]));
            // The integral of e^-r begins at 0, and the mesh at 1e-7.
            assert!((integral / factorial - 1.0).abs() < 1e-6, "{n}: {integral}");
        }
    }

    #[test]
    fn the_potential_of_hydrogens_ground_state_is_the_known_one() {
        // ∫ 4s²e^-2s / max(r, s) ds = 1/r − e^-2r (1 + 1/r)
        let mesh = Mesh::new(1);
        let density: Vec<f64> = mesh
            .radii
            .iter()
            .map(|r| 4.0 * r * r * exp(-2.0 * r))
            .collect();
        let potential = mesh.potential(&density, 0);
        for (r, value) in mesh.radii.iter().zip(&potential).skip(300) {
            let expected = 1.0 / r - exp(-2.0 * r) * (1.0 + 1.0 / r);
            assert!((value - expected).abs() < 1e-9 * (1.0 + expected), "{r}");
        }
        // Slater's integral F⁰(1s,1s) = 5/8 and, by the same density, F² has a closed form too.
        let f0 = mesh.integral(|i| density[i] * potential[i]);
        assert!((f0 - 0.625).abs() < 1e-10);
    }
}
