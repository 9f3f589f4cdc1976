//! π by the arithmetic-geometric mean: the Gauss–Legendre algorithm (E. Salamin, Math. Comp. 30,
//! 1976; R. P. Brent, J. ACM 23, 1976) in A. Schönhage's form, which needs one square root and one
//! square for each step.

use super::fixed::{quotient, root, Fixed};
use super::integer::{scale, Multiplier, LIMB_DIGITS};

/// Limbs beyond the digits requested: the sum's terms are multiplied by up to 2^steps, and every
/// step rounds.
const GUARD: usize = 4;

/// Limbs of fraction that `digits` decimal places need, without guard.
pub fn places(digits: usize) -> usize {
    digits.div_ceil(LIMB_DIGITS)
}

/// π, cut off after `digits` decimal places (in whole limbs: the last may hold digits beyond).
pub fn pi(digits: usize, by: &mut Multiplier) -> Fixed {
    let places = places(digits);
    let precision = places + GUARD;
    let half = halves(1, precision);
    // a₀ = 1, b₀² = 1/2; A = a², B = b², D = 1/4 − Σ 2^k (A − B).
    let mut a = Fixed::integer(1, precision);
    let mut a_squared = a.clone();
    let mut b_squared = half;
    let mut d = halves(2, precision);
    let mut doublings = 0u32;
    loop {
        let mut quarter_sum = a_squared.clone();
        quarter_sum.add(&b_squared);
        quarter_sum.halve();
        quarter_sum.halve();
        let b = root(&b_squared, precision, by);
        a.add(&b);
        a.halve();
        a_squared = a.square(precision, by);
        b_squared = a_squared.clone();
        b_squared.subtract(&quarter_sum);
        scale(b_squared.limbs_mut(), 2);
        // A − B may be a negative rounding error at the very end.
        let mut gap = a_squared.clone();
        if super::integer::compare(gap.limbs(), b_squared.limbs()).is_lt() {
            break;
        }
        gap.subtract(&b_squared);
        let used = gap.limbs().iter().rposition(|&limb| limb != 0);
        scale(gap.limbs_mut(), 1 << doublings);
        d.subtract(&gap);
        doublings += 1;
        // The next gap is a sixteenth of the square of this one: it no longer reaches the last
        // place, and the mean of A and B is as near to the next A.
        if used.is_none_or(|at| at < precision / 2 - 2) {
            break;
        }
    }
    a_squared.add(&b_squared);
    a_squared.halve();
    quotient(&a_squared, &d, precision, by).at(places)
}

/// 1/2^count.
fn halves(count: u32, precision: usize) -> Fixed {
    let mut value = Fixed::integer(1, precision);
    for _ in 0..count {
        value.halve();
    }
    value
}
