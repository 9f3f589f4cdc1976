//! Functions whose last bits differ between mathematical libraries, made of sums and products in a
//! fixed order: the same bits on every system.

/// e^x, to a few units of the last place, for |x| below 700.
pub fn exp(x: f64) -> f64 {
    // ln 2 in two parts, the first with so few digits that its multiples are exact.
    const HIGH: f64 = 0.693_145_751_953_125;
    const LOW: f64 = 1.428_606_820_309_417_3e-6;
    if x < -700.0 {
        return 0.0;
    }
    let halvings = (x * std::f64::consts::LOG2_E + 0.5).floor();
    let rest = (x - halvings * HIGH) - halvings * LOW;
    // |rest| is below 0.35: the fourteenth term is below the last place.
    let mut sum = 1.0;
    for n in (1..=14).rev() {
        sum = 1.0 + rest / f64::from(n) * sum;
    }
    sum * f64::from_bits(((halvings as i64 + 1023) as u64) << 52)
}

/// A whole power: the standard library's leaves the order of its products to the compiler.
pub fn power(x: f64, n: i32) -> f64 {
    let (mut square, mut left, mut product) = (x, n.unsigned_abs(), 1.0);
    while left > 0 {
        if left % 2 == 1 {
            product *= square;
        }
        square *= square;
        left /= 2;
    }
    if n < 0 {
        1.0 / product
    } else {
        product
    }
}

/// The cube root of a number above 0, by Newton's method.
pub fn cube_root(x: f64) -> f64 {
    // A third of the exponent is a start within a factor of 2.
    let mut y = f64::from_bits(x.to_bits() / 3 + (682u64 << 52));
    for _ in 0..8 {
        y = (2.0 * y + x / (y * y)) / 3.0;
    }
    y
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_near_the_librarys() {
        for i in -60_000..60_000 {
            let x = f64::from(i) * 0.01;
            let exact = x.exp();
            assert!((exp(x) - exact).abs() <= 1e-14 * exact, "e^{x}");
        }
        for n in -12..=12 {
            for x in [0.003, 0.7, 1.0, 19.5] {
                let exact = f64::powi(x, n);
                assert!((power(x, n) - exact).abs() <= 1e-14 * exact, "{x}^{n}");
            }
        }
        for i in 1..10_000 {
            let x = f64::from(i * i) * 0.37;
            assert!((cube_root(x) - x.cbrt()).abs() <= 1e-15 * x.cbrt(), "{x}");
        }
        assert!((cube_root(1e-20) - 1e-20f64.cbrt()).abs() < 1e-21);
    }
}
