//! Fixed-point numbers of base 100 000 and the three Newton iterations on them: reciprocal,
//! reciprocal square root, square root (R. P. Brent, P. Zimmermann, Modern Computer Arithmetic,
//! sections 4.2 and 4.2.3, with Karp's trick for the last step).

use super::integer::{add, compare, halve, subtract, Multiplier, BASE};
use std::cmp::Ordering;

/// A number from 0 to below 100 000: fraction limbs, least significant first, then the limb of the
/// integer part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed(Vec<u32>);

impl Fixed {
    pub fn integer(value: u32, precision: usize) -> Self {
        let mut limbs = vec![0; precision + 1];
        limbs[precision] = value;
        Self(limbs)
    }

    /// From the limbs of the fraction and the integer part above them.
    pub fn from_limbs(limbs: Vec<u32>) -> Self {
        Self(limbs)
    }

    pub fn limbs(&self) -> &[u32] {
        &self.0
    }

    pub fn limbs_mut(&mut self) -> &mut [u32] {
        &mut self.0
    }

    /// Limbs of the fraction.
    pub fn precision(&self) -> usize {
        self.0.len() - 1
    }

    /// The same number with `precision` limbs of fraction: cut off, or filled with zeros.
    #[must_use]
    pub fn at(&self, precision: usize) -> Self {
        Self(self.top(precision).map_or_else(
            || {
                let mut limbs = vec![0; precision - self.precision()];
                limbs.extend_from_slice(&self.0);
                limbs
            },
            <[u32]>::to_vec,
        ))
    }

    /// The limbs down to `precision` places, if there are so many.
    fn top(&self, precision: usize) -> Option<&[u32]> {
        (self.precision() >= precision).then(|| &self.0[self.precision() - precision..])
    }

    /// The number as a double, from its highest limbs.
    pub fn value(&self) -> f64 {
        let highest = self.0.iter().rev().take(5);
        highest
            .zip(0..)
            .map(|(&limb, place)| f64::from(limb) * f64::from(BASE).powi(-place))
            .sum()
    }

    /// A number below 100 000, to 3 limbs of fraction: all that a double knows.
    fn of_value(value: f64) -> Self {
        let base = f64::from(BASE);
        let mut rest = value;
        let mut limbs = [0; 4];
        for limb in limbs.iter_mut().rev() {
            *limb = rest as u32;
            rest = (rest - f64::from(*limb)) * base;
        }
        Self(limbs.to_vec())
    }

    pub fn add(&mut self, other: &Self) {
        add(&mut self.0, &other.0);
    }

    pub fn subtract(&mut self, other: &Self) {
        let borrow = subtract(&mut self.0, &other.0);
        debug_assert_eq!(borrow, 0, "the difference is not negative");
    }

    pub fn halve(&mut self) {
        halve(&mut self.0);
    }

    /// The product, cut off to `precision` limbs of fraction.
    pub fn multiply(&self, other: &Self, precision: usize, by: &mut Multiplier) -> Self {
        let product = by.multiply(&self.0, &other.0);
        Self::of_product(product, self.precision() + other.precision(), precision)
    }

    pub fn square(&self, precision: usize, by: &mut Multiplier) -> Self {
        let product = by.square(&self.0);
        Self::of_product(product, 2 * self.precision(), precision)
    }

    /// A product has `exact` limbs of fraction and two of integer part, the upper of them empty.
    fn of_product(mut product: Vec<u32>, exact: usize, precision: usize) -> Self {
        debug_assert_eq!(product.last(), Some(&0), "the product is below the base");
        product.pop();
        Self(product).at(precision.min(exact)).at(precision)
    }
}

/// A small difference with its sign: how far a Newton iterate is off.
struct Error {
    size: Fixed,
    negative: bool,
}

/// a − b.
fn difference(a: &Fixed, b: &Fixed) -> Error {
    let negative = compare(&a.0, &b.0) == Ordering::Less;
    let (larger, smaller) = if negative { (b, a) } else { (a, b) };
    let mut size = larger.clone();
    size.subtract(smaller);
    Error { size, negative }
}

/// y += y·error, where the error is so small that half of its limbs are zeros.
fn correct(y: &mut Fixed, error: &Error, precision: usize, by: &mut Multiplier) {
    let size = &error.size;
    let used = size
        .0
        .iter()
        .rposition(|&limb| limb != 0)
        .map_or(0, |at| at + 1);
    let known = y.clone();
    *y = y.at(precision);
    if used == 0 {
        return;
    }
    // Limbs of y that reach the last place of the product.
    let factor = known.top(used.min(known.precision())).unwrap_or(&known.0);
    let product = by.multiply(factor, &size.0[..used]);
    let exact = factor.len() - 1 + size.precision();
    let shift = exact - precision;
    let change = &product[shift.min(product.len())..];
    let length = change.len().min(y.0.len());
    if error.negative {
        subtract(&mut y.0, &change[..length]);
    } else {
        add(&mut y.0, &change[..length]);
    }
}

/// Precisions from what a double gives to `precision`, each a little less than twice the last.
fn steps(precision: usize) -> Vec<usize> {
    let mut steps = vec![precision];
    while steps[steps.len() - 1] > 2 {
        let last = steps[steps.len() - 1];
        steps.push((last / 2 + 2).min(last - 1));
    }
    steps.reverse();
    steps
}

/// 1/√b for b from about 0.1 to 10.
pub fn reciprocal_root(b: &Fixed, precision: usize, by: &mut Multiplier) -> Fixed {
    let mut y = Fixed::of_value(1.0 / b.value().sqrt()).at(2);
    for precision in steps(precision) {
        let square = y.square(2 * y.precision(), by).at(precision + 1);
        let near_one = square.multiply(&b.at(precision + 1), precision + 1, by);
        let mut error = difference(&Fixed::integer(1, precision + 1), &near_one);
        error.size.halve();
        correct(&mut y, &error, precision, by);
    }
    y
}

/// √b for b from about 0.1 to 10.
pub fn root(b: &Fixed, precision: usize, by: &mut Multiplier) -> Fixed {
    let half = precision / 2 + 2;
    let y = reciprocal_root(b, half, by);
    // s = b·y is the root to half of the places; s + y·(b − s²)/2 has nearly all of them.
    let s = b.at(half).multiply(&y, half, by);
    let mut error = difference(&b.at(2 * half), &s.square(2 * half, by));
    error.size.halve();
    add_product(s, &y, &error, precision, by)
}

/// a/d for d from about 0.1 to 10.
pub fn quotient(a: &Fixed, d: &Fixed, precision: usize, by: &mut Multiplier) -> Fixed {
    let half = precision / 2 + 2;
    let mut y = Fixed::of_value(1.0 / d.value()).at(2);
    for precision in steps(half) {
        let near_one = y.multiply(&d.at(precision + 1), precision + 1, by);
        let error = difference(&Fixed::integer(1, precision + 1), &near_one);
        correct(&mut y, &error, precision, by);
    }
    // Karp: q = a·y to half of the places, then q + y·(a − d·q).
    let q = a.at(half).multiply(&y, half, by);
    let exact = precision + half;
    let error = difference(&a.at(exact), &q.multiply(&d.at(precision), exact, by));
    add_product(q, &y, &error, precision, by)
}

/// s + y·error.
fn add_product(s: Fixed, y: &Fixed, error: &Error, precision: usize, by: &mut Multiplier) -> Fixed {
    let size = &error.size;
    let used = size
        .0
        .iter()
        .rposition(|&limb| limb != 0)
        .map_or(0, |at| at + 1);
    let mut sum = s.at(precision);
    let product = by.multiply(&y.0, &size.0[..used]);
    let shift = y.precision() + size.precision() - precision;
    let change = &product[shift.min(product.len())..];
    let length = change.len().min(sum.0.len());
    if error.negative {
        subtract(&mut sum.0, &change[..length]);
    } else {
        add(&mut sum.0, &change[..length]);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::kernels::Kernels;
    use super::*;

    /// Whether two numbers agree but for a few units of the last place.
    fn close(a: &Fixed, b: &Fixed, units: u32) -> bool {
        let size = difference(a, b).size;
        size.0[0] <= units && size.0[1..].iter().all(|&limb| limb == 0)
    }

    fn odd(first: u32, precision: usize) -> Fixed {
        let mut limbs: Vec<_> = (0..precision as u32).map(|i| i * 77_777 % BASE).collect();
        limbs.push(first);
        Fixed(limbs)
    }

    #[test]
    fn the_square_of_the_root_is_the_number() {
        let mut by = Multiplier::new(Kernels::best());
        for precision in [5, 17, 100, 1001] {
            for first in [0, 1, 7] {
                let mut b = odd(first, precision);
                b.0[precision - 1] = 54_321;
                let root = root(&b, precision, &mut by);
                let square = root.square(precision, &mut by);
                assert!(close(&square, &b, 20), "{precision} {first}");
            }
        }
        assert_eq!(by.fault(), None);
    }

    #[test]
    fn the_quotient_times_the_divisor_is_the_number() {
        let mut by = Multiplier::new(Kernels::best());
        for precision in [5, 17, 100, 1001] {
            let (a, d) = (odd(3, precision), odd(1, precision));
            let quotient = quotient(&a, &d, precision, &mut by);
            let product = quotient.multiply(&d, precision, &mut by);
            assert!(close(&product, &a, 20), "{precision}");
        }
    }

    #[test]
    fn exact_roots_and_quotients_are_exact() {
        let mut by = Multiplier::new(Kernels::best());
        let four = Fixed::integer(4, 60);
        assert!(close(&root(&four, 60, &mut by), &Fixed::integer(2, 60), 2));
        let half = quotient(&Fixed::integer(1, 60), &Fixed::integer(2, 60), 60, &mut by);
        let mut expected = Fixed::integer(1, 60);
        expected.halve();
        assert!(close(&half, &expected, 2));
    }
}
