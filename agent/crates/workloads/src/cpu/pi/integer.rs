//! Natural numbers in base 100 000, five decimal digits a limb, the least significant limb first;
//! and their products. Decimal limbs need no conversion of the result, which is what Super PI
//! prints.

use super::kernels::Kernels;
use super::transform::{Complex, Transforms};

pub const BASE: u32 = 100_000;
/// Decimal digits of a limb.
pub const LIMB_DIGITS: usize = 5;

/// Below so many limbs of the shorter factor the long-hand product is faster.
const LONG_HAND: usize = 40;
/// Products that came out further than this from an integer are not trusted.
const LARGEST_ERROR: f64 = 0.25;

/// Multiplies, and remembers whether every product so far was sound.
pub struct Multiplier {
    transforms: Transforms,
    a: Complex,
    b: Complex,
    worst: f64,
    fault: Option<String>,
}

impl Multiplier {
    pub fn new(kernels: Kernels) -> Self {
        Self {
            transforms: Transforms::new(kernels),
            a: Complex::default(),
            b: Complex::default(),
            worst: 0.0,
            fault: None,
        }
    }

    /// What was wrong with the first unsound product, if one was.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Largest distance of a rounded value from its integer; below 0.5 by far if all is well.
    pub fn worst(&self) -> f64 {
        self.worst
    }

    /// a · b, with as many limbs as both together.
    pub fn multiply(&mut self, a: &[u32], b: &[u32]) -> Vec<u32> {
        if a.len().min(b.len()) < LONG_HAND {
            return long_hand(a, b);
        }
        let points = points(a.len() + b.len() + 1);
        self.transforms.prepare(points);
        load(&mut self.a, a, points);
        load(&mut self.b, b, points);
        self.transforms.forward(&mut self.a);
        self.transforms.forward(&mut self.b);
        let multiply = self.transforms.kernels().multiply;
        multiply(&mut self.a.re, &mut self.a.im, &self.b.re, &self.b.im);
        let product = self.unload(a.len() + b.len());
        self.check_product(a, b, &product);
        product
    }

    /// a², with one transform less.
    pub fn square(&mut self, a: &[u32]) -> Vec<u32> {
        if a.len() < LONG_HAND {
            return long_hand(a, a);
        }
        let points = points(2 * a.len() + 1);
        self.transforms.prepare(points);
        load(&mut self.a, a, points);
        self.b.resize(points);
        self.transforms.forward(&mut self.a);
        square_points(&mut self.a);
        let product = self.unload(2 * a.len());
        self.check_product(a, a, &product);
        product
    }

    /// Transforms back, rounds and carries; the product has `limbs` limbs.
    fn unload(&mut self, limbs: usize) -> Vec<u32> {
        let (low, carry) = (&mut self.a, &mut self.b);
        self.transforms.inverse(low);
        let points = low.re.len();
        let round = self.transforms.kernels().round;
        // Each value leaves a digit and a carry of up to ten digits; the carries, added one place
        // up, leave carries of a few digits; the last carries are 0 or −1 and run through.
        let scale = 1.0 / points as f64;
        self.worst = self.worst.max(round(&mut low.re, &mut carry.re, scale));
        self.worst = self.worst.max(round(&mut low.im, &mut carry.im, scale));
        add_shifted(low, carry);
        round(&mut low.re, &mut carry.re, 1.0);
        round(&mut low.im, &mut carry.im, 1.0);
        add_shifted(low, carry);
        let mut product = Vec::with_capacity(limbs);
        let mut borrow = 0i32;
        for &value in low.re.iter().chain(&low.im).take(limbs) {
            let limb = value as i32 + borrow;
            borrow = limb >> 31;
            product.push((limb + (BASE as i32 & borrow)) as u32);
        }
        product
    }

    /// Casts out base − 1 and base + 1, as one casts out nines and elevens: both remainders of the
    /// product must be the products of the remainders.
    fn check_product(&mut self, a: &[u32], b: &[u32], product: &[u32]) {
        if self.fault.is_some() {
            return;
        }
        let (a, b, product) = (remainders(a), remainders(b), remainders(product));
        let below = u64::from(BASE) - 1;
        let above = u64::from(BASE) + 1;
        if self.worst > LARGEST_ERROR
            || a.0 * b.0 % below != product.0
            || a.1 * b.1 % above != product.1
        {
            self.fault = Some(format!(
                "a product is wrong: the largest rounding error was {:.3}",
                self.worst
            ));
        }
    }
}

/// Points of the transform that holds a product of `limbs` limbs.
fn points(limbs: usize) -> usize {
    limbs.div_ceil(2).next_power_of_two().max(4)
}

/// Loads a number as balanced digits, −base/2 to base/2, whose products are far smaller sums.
fn load(data: &mut Complex, number: &[u32], points: usize) {
    data.resize(points);
    let mut carry = 0i32;
    let mut place = 0;
    for part in [&mut data.re, &mut data.im] {
        let here = number.len().saturating_sub(place).min(points);
        let (filled, empty) = part.split_at_mut(here);
        for (value, &limb) in filled.iter_mut().zip(&number[place.min(number.len())..]) {
            let digit = limb as i32 + carry;
            // All ones, that is −1, if the digit is in the upper half.
            let upper = (BASE as i32 / 2 - 1 - digit) >> 31;
            *value = f64::from(digit - (BASE as i32 & upper));
            carry = -upper;
        }
        for value in empty {
            *value = f64::from(carry);
            carry = 0;
        }
        place += points;
    }
    debug_assert_eq!(carry, 0, "the number fills less than the transform");
}

fn square_points(data: &mut Complex) {
    for (re, im) in data.re.iter_mut().zip(&mut data.im) {
        (*re, *im) = (*re * *re - *im * *im, 2.0 * *re * *im);
    }
}

/// Adds every carry to the digit above it.
fn add_shifted(digits: &mut Complex, carries: &Complex) {
    for (digit, carry) in digits.re[1..].iter_mut().zip(&carries.re) {
        *digit += carry;
    }
    for (digit, carry) in digits.im[1..].iter_mut().zip(&carries.im) {
        *digit += carry;
    }
    digits.im[0] += carries.re[carries.re.len() - 1];
}

fn remainders(number: &[u32]) -> (u64, u64) {
    let (mut even, mut odd) = (0u64, 0u64);
    let pairs = number.chunks_exact(2);
    if let [last] = pairs.remainder() {
        even += u64::from(*last);
    }
    for pair in pairs {
        even += u64::from(pair[0]);
        odd += u64::from(pair[1]);
    }
    let above = u64::from(BASE) + 1;
    (
        (even + odd) % (u64::from(BASE) - 1),
        (even % above + above - odd % above) % above,
    )
}

fn long_hand(a: &[u32], b: &[u32]) -> Vec<u32> {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let base = u64::from(BASE);
    let mut product = vec![0u32; a.len() + b.len()];
    for (place, &digit) in short.iter().enumerate() {
        let mut carry = 0u64;
        for (limb, &other) in product[place..].iter_mut().zip(long) {
            let sum = u64::from(*limb) + u64::from(digit) * u64::from(other) + carry;
            *limb = (sum % base) as u32;
            carry = sum / base;
        }
        product[place + long.len()] = carry as u32;
    }
    product
}

/// a += b; returns the carry out of a. b is not longer than a.
pub fn add(a: &mut [u32], b: &[u32]) -> u32 {
    let (low, high) = a.split_at_mut(b.len());
    let mut carry = 0;
    for (a, &b) in low.iter_mut().zip(b) {
        let sum = *a + b + carry;
        carry = u32::from(sum >= BASE);
        *a = sum - BASE * carry;
    }
    for a in high {
        if carry == 0 {
            break;
        }
        *a += 1;
        carry = u32::from(*a == BASE);
        *a -= BASE * carry;
    }
    carry
}

/// a −= b; returns the borrow out of a. b is not longer than a.
pub fn subtract(a: &mut [u32], b: &[u32]) -> u32 {
    let (low, high) = a.split_at_mut(b.len());
    let mut borrow = 0;
    for (a, &b) in low.iter_mut().zip(b) {
        let less = *a as i32 - b as i32 - borrow as i32;
        borrow = u32::from(less < 0);
        *a = (less + (BASE * borrow) as i32) as u32;
    }
    for a in high {
        if borrow == 0 {
            break;
        }
        borrow = u32::from(*a == 0);
        *a = (*a + BASE * borrow) - 1;
    }
    borrow
}

/// a *= factor, below 2^32; returns the limb that went over the top.
pub fn scale(a: &mut [u32], factor: u32) -> u64 {
    let base = u64::from(BASE);
    let mut carry = 0u64;
    for limb in a {
        let product = u64::from(*limb) * u64::from(factor) + carry;
        *limb = (product % base) as u32;
        carry = product / base;
    }
    carry
}

/// a /= 2, rounded down.
pub fn halve(a: &mut [u32]) {
    for place in 0..a.len() {
        let above = a.get(place + 1).map_or(0, |limb| limb % 2);
        a[place] = a[place] / 2 + above * (BASE / 2);
    }
}

/// Which of two numbers of one length is larger.
pub fn compare(a: &[u32], b: &[u32]) -> std::cmp::Ordering {
    debug_assert_eq!(a.len(), b.len());
    a.iter().rev().cmp(b.iter().rev())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(limbs: usize, seed: u64) -> Vec<u32> {
        let mut state = seed;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as u32 % BASE
        };
        (0..limbs).map(|_| next()).collect()
    }

    fn multipliers() -> Vec<Multiplier> {
        Kernels::all().into_iter().map(Multiplier::new).collect()
    }

    #[test]
    fn the_transform_multiplies_as_one_does_by_hand() {
        for mut multiplier in multipliers() {
            for (a, b) in [(40, 40), (41, 300), (64, 64), (1000, 999), (2048, 2048)] {
                let (a, b) = (number(a, 1), number(b, 2));
                assert_eq!(multiplier.multiply(&a, &b), long_hand(&a, &b));
                assert_eq!(multiplier.square(&a), long_hand(&a, &a));
            }
            assert_eq!(multiplier.fault(), None);
        }
    }

    #[test]
    fn numbers_with_the_longest_carries_multiply_right() {
        for mut multiplier in multipliers() {
            for digit in [BASE - 1, BASE / 2, BASE / 2 - 1, BASE / 2 + 1, 1] {
                for limbs in [64, 100, 4096] {
                    let a = vec![digit; limbs];
                    assert_eq!(multiplier.square(&a), long_hand(&a, &a), "{digit} {limbs}");
                }
            }
            assert_eq!(multiplier.fault(), None);
        }
    }

    #[test]
    fn the_worst_of_a_large_product_is_far_from_a_wrong_rounding() {
        let mut multiplier = Multiplier::new(Kernels::best());
        let a = number(100_000, 5);
        multiplier.square(&a);
        assert!(multiplier.worst() > 0.0 && multiplier.worst() < 0.02);
    }

    #[test]
    fn a_wrong_product_is_noticed() {
        let mut multiplier = Multiplier::new(Kernels::best());
        let (a, b) = (number(500, 1), number(500, 2));
        let mut product = multiplier.multiply(&a, &b);
        product[333] ^= 1;
        multiplier.check_product(&a, &b, &product);
        assert!(multiplier.fault().is_some());
    }

    #[test]
    fn sums_differences_and_small_products_undo_each_other() {
        let a = number(50, 3);
        let b = number(30, 4);
        let mut c = a.clone();
        let carry = add(&mut c, &b);
        assert_eq!(subtract(&mut c, &b), carry);
        assert_eq!(c, a);
        c.push(0);
        let over = scale(&mut c, 2);
        assert_eq!(over, 0);
        halve(&mut c);
        assert_eq!(c[..50], a[..]);
    }
}
