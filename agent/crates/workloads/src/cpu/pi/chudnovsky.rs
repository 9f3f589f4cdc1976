//! π by the series of D. V. and G. V. Chudnovsky (1988), summed by binary splitting: nothing of it
//! is shared with the arithmetic-geometric mean but the multiplication, so agreement to the last
//! digit proves both.

use super::fixed::{quotient, root, Fixed};
use super::integer::{add, compare, scale, subtract, Multiplier, BASE};

const GUARD: usize = 4;
/// Decimal digits that one term adds: log10(640320³ / 24 / 72).
const DIGITS_PER_TERM: f64 = 14.181_647_462_725_477;

/// The sum of a range of terms: P and Q positive, T with a sign.
struct Range {
    p: Vec<u32>,
    q: Vec<u32>,
    t: Vec<u32>,
    negative: bool,
}

/// π to `places` limbs of fraction, cut off.
pub fn pi(places: usize, by: &mut Multiplier) -> Fixed {
    let precision = places + GUARD;
    let digits = (precision * super::integer::LIMB_DIGITS) as f64;
    let terms = (digits / DIGITS_PER_TERM) as u64 + 2;
    let Range { mut q, mut t, .. } = sum(0, terms, false, by);
    // Both are scaled alike, so that the divisor lies between 0.4 and 1.
    let factor = BASE / (t[t.len() - 1] + 1);
    let over = scale(&mut t, factor);
    debug_assert_eq!(over, 0);
    let over = scale(&mut q, factor);
    q.push(over as u32);
    let length = t.len();
    let divisor = fraction(t, length).at(precision);
    let dividend = fraction(q, length).at(precision);
    // Q/T is about π/42 698 670: multiplied up before the division, it keeps its digits.
    let mut ratio = dividend;
    let over = scale(ratio.limbs_mut(), 426_880);
    debug_assert_eq!(over, 0);
    let ratio = quotient(&ratio, &divisor, precision, by);
    // √10005 = 100·√1.0005
    let mut square = Fixed::integer(1, precision);
    square.limbs_mut()[precision - 1] = 50;
    let root = root(&square, precision, by);
    let mut pi = ratio.multiply(&root, precision, by);
    scale(pi.limbs_mut(), 100);
    pi.at(places)
}

/// A whole number over base^length, as a fixed-point number with an integer part of 0.
fn fraction(mut number: Vec<u32>, length: usize) -> Fixed {
    number.truncate(length);
    number.resize(length + 1, 0);
    Fixed::from_limbs(number)
}

/// Terms `from..to`; the last range of all needs no P.
fn sum(from: u64, to: u64, p_needed: bool, by: &mut Multiplier) -> Range {
    if to - from == 1 {
        return term(from);
    }
    let middle = from + (to - from) / 2;
    let left = sum(from, middle, true, by);
    let right = sum(middle, to, p_needed, by);
    let upper = trimmed(by.multiply(&left.t, &right.q));
    let lower = trimmed(by.multiply(&left.p, &right.t));
    let (t, negative) = signed_sum(upper, left.negative, lower, right.negative);
    Range {
        p: if p_needed {
            trimmed(by.multiply(&left.p, &right.p))
        } else {
            Vec::new()
        },
        q: trimmed(by.multiply(&left.q, &right.q)),
        t,
        negative,
    }
}

fn term(index: u64) -> Range {
    let k = u128::from(index);
    let (p, q) = if k == 0 {
        (1, 1)
    } else {
        let p = (6 * k - 5) * (2 * k - 1) * (6 * k - 1);
        // 640320³ / 24
        (p, k * k * k * 10_939_058_860_032_000)
    };
    Range {
        p: limbs(p),
        q: limbs(q),
        t: limbs(p * (13_591_409 + 545_140_134 * k)),
        negative: k % 2 == 1,
    }
}

fn limbs(mut value: u128) -> Vec<u32> {
    let mut limbs = Vec::new();
    while value > 0 {
        limbs.push((value % u128::from(BASE)) as u32);
        value /= u128::from(BASE);
    }
    limbs
}

fn trimmed(mut number: Vec<u32>) -> Vec<u32> {
    while number.last() == Some(&0) {
        number.pop();
    }
    number
}

fn signed_sum(
    mut a: Vec<u32>,
    a_negative: bool,
    mut b: Vec<u32>,
    b_negative: bool,
) -> (Vec<u32>, bool) {
    let length = a.len().max(b.len());
    a.resize(length, 0);
    b.resize(length, 0);
    if a_negative == b_negative {
        let carry = add(&mut a, &b);
        a.push(carry);
        (trimmed(a), a_negative)
    } else if compare(&a, &b).is_lt() {
        subtract(&mut b, &a);
        (trimmed(b), b_negative)
    } else {
        subtract(&mut a, &b);
        (trimmed(a), a_negative)
    }
}
