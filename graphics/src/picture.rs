//! A picture that was drawn: its hash, its small copy, and how far two of them are apart.

use base64::Engine;

/// Size of the small copies that are compared: the ratio of the sides is that of 1280x1024.
pub const SMALL: (u32, u32) = (64, 51);
/// Width of the picture that a reader gets, in pixels.
const SHOWN: u32 = 320;

/// Red, green and blue of every pixel, row by row from the top.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub rgb: Vec<u8>,
}

impl Picture {
    /// # Panics
    /// If there are not three bytes for each pixel.
    pub fn new(width: u32, height: u32, rgb: Vec<u8>) -> Self {
        assert_eq!(rgb.len(), (width * height * 3) as usize);
        Self { width, height, rgb }
    }

    /// FNV-1a (64 bits) of every byte: equal pictures, equal hashes.
    pub fn hash(&self) -> u64 {
        self.rgb.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// A copy of another size. Each of its pixels is the mean of the pixels that it covers, with
    /// shares at the borders, so the mean of the picture stays.
    pub fn resized(&self, width: u32, height: u32) -> Self {
        let columns = shares(self.width, width);
        let rows = shares(self.height, height);
        let mut rgb = Vec::with_capacity((width * height * 3) as usize);
        for row in &rows {
            for column in &columns {
                let mut sums = [0.0f64; 3];
                let mut weight = 0.0;
                for &(y, of_row) in row {
                    for &(x, of_column) in column {
                        let at = ((y * self.width + x) * 3) as usize;
                        let share = of_row * of_column;
                        weight += share;
                        for (sum, byte) in sums.iter_mut().zip(&self.rgb[at..at + 3]) {
                            *sum += share * f64::from(*byte);
                        }
                    }
                }
                rgb.extend(sums.map(|sum| (sum / weight).round() as u8));
            }
        }
        Self::new(width, height, rgb)
    }

    pub fn small(&self) -> Self {
        self.resized(SMALL.0, SMALL.1)
    }

    /// Mean absolute difference of all bytes, of 255.
    pub fn distance(&self, other: &Self) -> f64 {
        let sum: u64 = self
            .rgb
            .iter()
            .zip(&other.rgb)
            .map(|(a, b)| u64::from(a.abs_diff(*b)))
            .sum();
        sum as f64 / self.rgb.len() as f64
    }

    /// Greatest over the blocks of 8x8 pixels of the mean absolute difference within one: what is
    /// wrong in one place is not lost in a picture that is right elsewhere.
    pub fn local_distance(&self, other: &Self) -> f64 {
        const SIDE: u32 = 8;
        let mut greatest = 0.0f64;
        for top in (0..self.height).step_by(SIDE as usize) {
            for left in (0..self.width).step_by(SIDE as usize) {
                let (mut sum, mut count) = (0u64, 0u64);
                for y in top..(top + SIDE).min(self.height) {
                    let from = ((y * self.width + left) * 3) as usize;
                    let to = from + ((left + SIDE).min(self.width) - left) as usize * 3;
                    for at in from..to {
                        sum += u64::from(self.rgb[at].abs_diff(other.rgb[at]));
                        count += 1;
                    }
                }
                greatest = greatest.max(sum as f64 / count as f64);
            }
        }
        greatest
    }

    /// How far the values spread, of 255: nearly 0 for a picture on which nothing is seen.
    pub fn spread(&self) -> f64 {
        let mean = self.rgb.iter().map(|b| f64::from(*b)).sum::<f64>() / self.rgb.len() as f64;
        let squares: f64 = self
            .rgb
            .iter()
            .map(|b| (f64::from(*b) - mean).powi(2))
            .sum();
        (squares / self.rgb.len() as f64).sqrt()
    }

    /// A small JPEG file in Base64 for a reader, with its width and height.
    pub fn shown(&self) -> (u32, u32, String) {
        let height = (SHOWN * self.height).div_ceil(self.width);
        let copy = self.resized(SHOWN, height);
        let mut file = Vec::new();
        jpeg_encoder::Encoder::new(&mut file, 80)
            .encode(
                &copy.rgb,
                SHOWN as u16,
                height as u16,
                jpeg_encoder::ColorType::Rgb,
            )
            .expect("writing to memory");
        (
            SHOWN,
            height,
            base64::engine::general_purpose::STANDARD.encode(file),
        )
    }
}

/// For each of `to` pixels, the pixels of `from` that it covers and how much of each.
fn shares(from: u32, to: u32) -> Vec<Vec<(u32, f64)>> {
    let step = f64::from(from) / f64::from(to);
    (0..to)
        .map(|pixel| {
            let (start, end) = (f64::from(pixel) * step, f64::from(pixel + 1) * step);
            (start.floor() as u32..(end.ceil() as u32).min(from))
                .map(|at| (at, end.min(f64::from(at + 1)) - start.max(f64::from(at))))
                .filter(|(_, share)| *share > 1e-9)
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(width: u32, height: u32) -> Picture {
        let rgb = (0..width * height * 3).map(|at| (at % 251) as u8).collect();
        Picture::new(width, height, rgb)
    }

    #[test]
    fn a_copy_keeps_the_mean_and_the_same_size_keeps_every_byte() {
        let picture = ramp(129, 77);
        assert!(picture.resized(129, 77) == picture);
        let mean =
            |p: &Picture| p.rgb.iter().map(|b| f64::from(*b)).sum::<f64>() / p.rgb.len() as f64;
        assert!((mean(&picture) - mean(&picture.resized(17, 50))).abs() < 0.5);
    }

    #[test]
    fn one_wrong_corner_is_near_on_the_whole_and_far_in_its_place() {
        let right = Picture::new(64, 64, vec![100; 64 * 64 * 3]);
        let mut wrong = right.clone();
        for y in 0..8 {
            for x in 0..24 {
                wrong.rgb[y * 64 * 3 + x] = 200;
            }
        }
        assert!(right.distance(&wrong) < 2.0);
        assert_eq!(right.local_distance(&wrong), 100.0);
        assert_ne!(right.hash(), wrong.hash());
    }

    #[test]
    fn a_blank_picture_has_no_spread() {
        assert_eq!(Picture::new(2, 2, vec![7; 12]).spread(), 0.0);
        assert!(ramp(16, 16).spread() > 50.0);
    }
}
