//! The inner loops of the multiplication, compiled twice: for every processor of the architecture
//! and for those with AVX2. Both do the same arithmetic in the same order, without fused
//! operations, so both give the same bits.
//!
//! `unsafe` only calls the second set, after CPUID reported it.

/// A change of the first pair by the second, real and imaginary parts apart: one pass of radix 4
/// over consecutive blocks with one constant for each block, or a product point by point.
pub type Pass4 = fn(&mut [f64], &mut [f64], &[f64], &[f64]);
/// One pass of radix 2 over one block.
pub type Pass2 = fn(&mut [f64], &mut [f64], f64, f64);

/// The loops for one kind of processor.
#[derive(Clone, Copy)]
pub struct Kernels {
    pub name: &'static str,
    pub forward4: Pass4,
    pub inverse4: Pass4,
    pub forward2: Pass2,
    pub inverse2: Pass2,
    /// Pointwise product into the first pair.
    pub multiply: Pass4,
    /// Rounds `values · scale` to integers and splits each into a balanced digit of the base
    /// (left in place) and its carry (stored); returns the largest distance from an integer.
    pub round: fn(&mut [f64], &mut [f64], f64) -> f64,
}

macro_rules! kernels {
    ($name:ident, $($feature:literal)?) => {
        mod $name {
            use super::loops;
            $(#[target_feature(enable = $feature)])?
            pub fn forward4(re: &mut [f64], im: &mut [f64], w_re: &[f64], w_im: &[f64]) {
                loops::forward4(re, im, w_re, w_im);
            }
            $(#[target_feature(enable = $feature)])?
            pub fn inverse4(re: &mut [f64], im: &mut [f64], w_re: &[f64], w_im: &[f64]) {
                loops::inverse4(re, im, w_re, w_im);
            }
            $(#[target_feature(enable = $feature)])?
            pub fn forward2(re: &mut [f64], im: &mut [f64], w_re: f64, w_im: f64) {
                loops::forward2(re, im, w_re, w_im);
            }
            $(#[target_feature(enable = $feature)])?
            pub fn inverse2(re: &mut [f64], im: &mut [f64], w_re: f64, w_im: f64) {
                loops::inverse2(re, im, w_re, w_im);
            }
            $(#[target_feature(enable = $feature)])?
            pub fn multiply(re: &mut [f64], im: &mut [f64], by_re: &[f64], by_im: &[f64]) {
                loops::multiply(re, im, by_re, by_im);
            }
            $(#[target_feature(enable = $feature)])?
            pub fn round(values: &mut [f64], carries: &mut [f64], scale: f64) -> f64 {
                loops::round(values, carries, scale)
            }
        }
    };
}

kernels!(portable,);
#[cfg(target_arch = "x86_64")]
kernels!(avx2, "avx2");

impl Kernels {
    const PORTABLE: Self = Self {
        name: "portable",
        forward4: portable::forward4,
        inverse4: portable::inverse4,
        forward2: portable::forward2,
        inverse2: portable::inverse2,
        multiply: portable::multiply,
        round: portable::round,
    };

    /// Every set that this processor can run, the widest last.
    pub fn all() -> Vec<Self> {
        #[allow(unused_mut)]
        let mut all = vec![Self::PORTABLE];
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor, and the system, have AVX2.
            all.push(unsafe { with_avx2() });
        }
        all
    }

    /// The widest set that this processor can run.
    pub fn best() -> Self {
        *Self::all().last().expect("the portable set always runs")
    }
}

/// Here the functions of the set may be named, because here AVX2 may be used.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2() -> Kernels {
    Kernels {
        name: "avx2",
        forward4: avx2::forward4,
        inverse4: avx2::inverse4,
        forward2: avx2::forward2,
        inverse2: avx2::inverse2,
        multiply: avx2::multiply,
        round: avx2::round,
    }
}

/// The loops themselves, inlined into each set.
mod loops {
    use super::super::integer::BASE;

    /// The four quarters of one block.
    #[inline(always)]
    fn quarters(block: &mut [f64]) -> [&mut [f64]; 4] {
        let quarter = block.len() / 4;
        let (a, rest) = block.split_at_mut(quarter);
        let (b, rest) = rest.split_at_mut(quarter);
        let (c, d) = rest.split_at_mut(quarter);
        [a, b, c, &mut d[..quarter]]
    }

    /// w, w², w³.
    #[inline(always)]
    fn powers(re: f64, im: f64) -> [(f64, f64); 3] {
        let two = (re * re - im * im, 2.0 * re * im);
        let three = (two.0 * re - two.1 * im, two.0 * im + two.1 * re);
        [(re, im), two, three]
    }

    /// x^4m − w⁴ into x^m − w, x^m + w, x^m − iw, x^m + iw.
    #[inline(always)]
    pub fn forward4(re: &mut [f64], im: &mut [f64], w_re: &[f64], w_im: &[f64]) {
        let size = re.len() / w_re.len();
        let blocks = re.chunks_exact_mut(size).zip(im.chunks_exact_mut(size));
        for ((re, im), (&w_re, &w_im)) in blocks.zip(w_re.iter().zip(w_im)) {
            let [w1, w2, w3] = powers(w_re, w_im);
            let [re0, re1, re2, re3] = quarters(re);
            let [im0, im1, im2, im3] = quarters(im);
            for i in 0..size / 4 {
                let (b1r, b1i) = (re1[i] * w1.0 - im1[i] * w1.1, re1[i] * w1.1 + im1[i] * w1.0);
                let (b2r, b2i) = (re2[i] * w2.0 - im2[i] * w2.1, re2[i] * w2.1 + im2[i] * w2.0);
                let (b3r, b3i) = (re3[i] * w3.0 - im3[i] * w3.1, re3[i] * w3.1 + im3[i] * w3.0);
                let (s02r, s02i) = (re0[i] + b2r, im0[i] + b2i);
                let (d02r, d02i) = (re0[i] - b2r, im0[i] - b2i);
                let (s13r, s13i) = (b1r + b3r, b1i + b3i);
                let (d13r, d13i) = (b1r - b3r, b1i - b3i);
                re0[i] = s02r + s13r;
                im0[i] = s02i + s13i;
                re1[i] = s02r - s13r;
                im1[i] = s02i - s13i;
                // i·(b1 − b3) = (−d13i, d13r)
                re2[i] = d02r - d13i;
                im2[i] = d02i + d13r;
                re3[i] = d02r + d13i;
                im3[i] = d02i - d13r;
            }
        }
    }

    /// Undoes `forward4`, times 4.
    #[inline(always)]
    pub fn inverse4(re: &mut [f64], im: &mut [f64], w_re: &[f64], w_im: &[f64]) {
        let size = re.len() / w_re.len();
        let blocks = re.chunks_exact_mut(size).zip(im.chunks_exact_mut(size));
        for ((re, im), (&w_re, &w_im)) in blocks.zip(w_re.iter().zip(w_im)) {
            // The inverse of a constant of modulus 1 is its conjugate.
            let [w1, w2, w3] = powers(w_re, -w_im);
            let [re0, re1, re2, re3] = quarters(re);
            let [im0, im1, im2, im3] = quarters(im);
            for i in 0..size / 4 {
                let (s02r, s02i) = (re0[i] + re1[i], im0[i] + im1[i]);
                let (s13r, s13i) = (re0[i] - re1[i], im0[i] - im1[i]);
                let (d02r, d02i) = (re2[i] + re3[i], im2[i] + im3[i]);
                // (y2 − y3) / i = (imaginary, −real)
                let (d13r, d13i) = (im2[i] - im3[i], re3[i] - re2[i]);
                let (b2r, b2i) = (s02r - d02r, s02i - d02i);
                let (b1r, b1i) = (s13r + d13r, s13i + d13i);
                let (b3r, b3i) = (s13r - d13r, s13i - d13i);
                re0[i] = s02r + d02r;
                im0[i] = s02i + d02i;
                re1[i] = b1r * w1.0 - b1i * w1.1;
                im1[i] = b1r * w1.1 + b1i * w1.0;
                re2[i] = b2r * w2.0 - b2i * w2.1;
                im2[i] = b2r * w2.1 + b2i * w2.0;
                re3[i] = b3r * w3.0 - b3i * w3.1;
                im3[i] = b3r * w3.1 + b3i * w3.0;
            }
        }
    }

    /// x^2m − w² into x^m − w and x^m + w.
    #[inline(always)]
    pub fn forward2(re: &mut [f64], im: &mut [f64], w_re: f64, w_im: f64) {
        let half = re.len() / 2;
        let (re0, re1) = re.split_at_mut(half);
        let (im0, im1) = im.split_at_mut(half);
        let (re1, im0, im1) = (&mut re1[..half], &mut im0[..half], &mut im1[..half]);
        for i in 0..half {
            let (br, bi) = (re1[i] * w_re - im1[i] * w_im, re1[i] * w_im + im1[i] * w_re);
            (re1[i], im1[i]) = (re0[i] - br, im0[i] - bi);
            (re0[i], im0[i]) = (re0[i] + br, im0[i] + bi);
        }
    }

    /// Undoes `forward2`, times 2.
    #[inline(always)]
    pub fn inverse2(re: &mut [f64], im: &mut [f64], w_re: f64, w_im: f64) {
        let half = re.len() / 2;
        let (re0, re1) = re.split_at_mut(half);
        let (im0, im1) = im.split_at_mut(half);
        let (re1, im0, im1) = (&mut re1[..half], &mut im0[..half], &mut im1[..half]);
        for i in 0..half {
            let (br, bi) = (re0[i] - re1[i], im0[i] - im1[i]);
            (re0[i], im0[i]) = (re0[i] + re1[i], im0[i] + im1[i]);
            (re1[i], im1[i]) = (br * w_re + bi * w_im, bi * w_re - br * w_im);
        }
    }

    #[inline(always)]
    pub fn multiply(re: &mut [f64], im: &mut [f64], by_re: &[f64], by_im: &[f64]) {
        let points = re.len();
        let (im, by_re, by_im) = (&mut im[..points], &by_re[..points], &by_im[..points]);
        for i in 0..points {
            let (a, b) = (re[i], im[i]);
            re[i] = a * by_re[i] - b * by_im[i];
            im[i] = a * by_im[i] + b * by_re[i];
        }
    }

    /// Adding and subtracting 1.5·2^52 rounds a double below 2^51 to the nearest integer.
    const ROUND: f64 = 6_755_399_441_055_744.0;

    #[inline(always)]
    pub fn round(values: &mut [f64], carries: &mut [f64], scale: f64) -> f64 {
        const LANES: usize = 8;
        let base = f64::from(BASE);
        let mut worst = [0.0f64; LANES];
        let split = |value: &mut f64, carry: &mut f64, worst: &mut f64| {
            let scaled = *value * scale;
            let integer = (scaled + ROUND) - ROUND;
            let distance = (scaled - integer).abs();
            *worst = if distance > *worst { distance } else { *worst };
            let up = (integer * (1.0 / base) + ROUND) - ROUND;
            *value = integer - up * base;
            *carry = up;
        };
        let mut value_chunks = values.chunks_exact_mut(LANES);
        let mut carry_chunks = carries.chunks_exact_mut(LANES);
        for (values, carries) in (&mut value_chunks).zip(&mut carry_chunks) {
            for lane in 0..LANES {
                split(&mut values[lane], &mut carries[lane], &mut worst[lane]);
            }
        }
        let rest = value_chunks.into_remainder().iter_mut();
        for (value, carry) in rest.zip(carry_chunks.into_remainder()) {
            split(value, carry, &mut worst[0]);
        }
        worst.into_iter().fold(0.0, f64::max)
    }
}
