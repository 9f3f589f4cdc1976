//! A photograph: structure of every size with less contrast the finer it is (the 1/f amplitudes of
//! natural scenes: D. J. Field, Journal of the Optical Society of America A 4, 1987), edges, weak
//! colour and the noise of a sensor.

use pentathlon_harness::Random;

/// An 8-bit RGB image, row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Photo {
    pub width: usize,
    pub height: usize,
    pub rgb: Vec<u8>,
}

pub fn photo(width: usize, height: usize, seed: u64) -> Photo {
    let mut random = Random::new(seed);
    let mut luma = vec![0.0f32; width * height];
    let mut warm = vec![0.0f32; width * height];
    let mut cold = vec![0.0f32; width * height];
    let longest = width.max(height);
    let mut cell = longest.next_power_of_two() / 2;
    let mut contrast = 55.0f32;
    while cell >= 2 {
        octave(&mut luma, width, height, cell, contrast, &mut random);
        if cell >= 16 {
            octave(&mut warm, width, height, cell, contrast * 0.3, &mut random);
            octave(&mut cold, width, height, cell, contrast * 0.3, &mut random);
        }
        // A 1/f amplitude spectrum has the same contrast in every octave; lenses take some off
        // the finer ones.
        contrast *= 0.78;
        cell /= 2;
    }
    for _ in 0..24 {
        edge(&mut luma, width, height, &mut random);
    }
    let mut rgb = Vec::with_capacity(3 * width * height);
    for ((y, r), b) in luma.iter().zip(&warm).zip(&cold) {
        let noise = random.next();
        let level = |value: f32, shift: u32| {
            // The sum of two dice: −3 to 3, mostly near 0.
            let bits = noise >> shift;
            let grain = (bits & 3) as f32 + ((bits >> 2) & 3) as f32 - 3.0;
            (128.0 + value + 0.5 * grain).clamp(0.0, 255.0) as u8
        };
        rgb.extend([
            level(y + r, 0),
            level(y - 0.4 * r - 0.3 * b, 8),
            level(y + b, 16),
        ]);
    }
    Photo { width, height, rgb }
}

/// Adds smooth noise: random values on a grid of `cell` pixels, blended between.
fn octave(
    plane: &mut [f32],
    width: usize,
    height: usize,
    cell: usize,
    contrast: f32,
    random: &mut Random,
) {
    let columns = width / cell + 2;
    let rows = height / cell + 2;
    let grid: Vec<f32> = (0..columns * rows)
        .map(|_| (random.unit() as f32 * 2.0 - 1.0) * contrast)
        .collect();
    let smooth = |t: f32| t * t * (3.0 - 2.0 * t);
    let steps: Vec<f32> = (0..cell).map(|i| smooth(i as f32 / cell as f32)).collect();
    for (y, row) in plane.chunks_exact_mut(width).enumerate() {
        let v = steps[y % cell];
        let upper = &grid[y / cell * columns..][..columns];
        let lower = &grid[(y / cell + 1) * columns..][..columns];
        for (x, pixel) in row.iter_mut().enumerate() {
            let (u, at) = (steps[x % cell], x / cell);
            let above = upper[at] + (upper[at + 1] - upper[at]) * u;
            let below = lower[at] + (lower[at + 1] - lower[at]) * u;
            *pixel += above + (below - above) * v;
        }
    }
}

/// Brightens or darkens one disc: an object with a sharp outline.
fn edge(plane: &mut [f32], width: usize, height: usize, random: &mut Random) {
    let (x0, y0) = (random.below(width) as i64, random.below(height) as i64);
    let radius = 4 + random.below(width.min(height) / 4 + 1) as i64;
    let change = (random.unit() as f32 - 0.5) * 80.0;
    for (y, row) in plane.chunks_exact_mut(width).enumerate() {
        let down = y as i64 - y0;
        for (x, pixel) in row.iter_mut().enumerate() {
            let across = x as i64 - x0;
            if across * across + down * down < radius * radius {
                *pixel += change;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_image_of_any_size() {
        for (width, height) in [(64, 48), (33, 65), (16, 16)] {
            let image = photo(width, height, 5);
            assert_eq!(image.rgb.len(), 3 * width * height);
            assert_eq!(image, photo(width, height, 5));
            assert_ne!(image, photo(width, height, 6));
        }
    }

    #[test]
    fn neighbouring_pixels_are_alike_and_distant_ones_differ() {
        let image = photo(256, 256, 1);
        let green = |x: usize, y: usize| f64::from(image.rgb[3 * (y * 256 + x) + 1]);
        let spread = |step: usize| {
            let mut sum = 0.0;
            for y in 0..256 {
                for x in 0..256 - step {
                    sum += (green(x, y) - green(x + step, y)).abs();
                }
            }
            sum / (256.0 * (256 - step) as f64)
        };
        let (near, far) = (spread(1), spread(100));
        assert!(near > 0.3 && far > 5.0 * near, "{near} {far}");
    }
}
