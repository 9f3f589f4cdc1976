//! The ground: a square of hills, seeded, the same bits on every system.

use pentathlon_harness::Random;

/// Heights on a grid of unit squares.
#[derive(Debug, Clone)]
pub struct Terrain {
    /// Squares along an edge.
    pub size: usize,
    heights: Vec<f64>,
}

impl Terrain {
    pub fn new(size: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let side = size + 1;
        let mut heights = vec![0.0; side * side];
        let (mut cell, mut rise) = (size / 2, size as f64 / 12.0);
        while cell >= 2 {
            let columns = size / cell + 2;
            let knots: Vec<f64> = (0..columns * columns)
                .map(|_| (random.unit() - 0.5) * rise)
                .collect();
            for y in 0..side {
                for x in 0..side {
                    let share = |i: usize| (i % cell) as f64 / cell as f64;
                    let (u, v) = (smooth(share(x)), smooth(share(y)));
                    let at = |dx, dy| knots[(y / cell + dy) * columns + x / cell + dx];
                    let above = at(0, 0) + (at(1, 0) - at(0, 0)) * u;
                    let below = at(0, 1) + (at(1, 1) - at(0, 1)) * u;
                    heights[y * side + x] += above + (below - above) * v;
                }
            }
            cell /= 2;
            rise *= 0.5;
        }
        Self { size, heights }
    }

    pub fn corner(&self, x: usize, y: usize) -> f64 {
        self.heights[y * (self.size + 1) + x]
    }

    /// Height and upward normal (not of length 1) at a point; outside, those of the rim.
    pub fn at(&self, x: f64, y: f64) -> (f64, [f64; 3]) {
        let last = self.size as f64 - 1e-6;
        let (x, y) = (x.clamp(0.0, last), y.clamp(0.0, last));
        let (column, row) = (x as usize, y as usize);
        let (u, v) = (x - column as f64, y - row as f64);
        let (a, b) = (self.corner(column, row), self.corner(column + 1, row));
        let (c, d) = (
            self.corner(column, row + 1),
            self.corner(column + 1, row + 1),
        );
        let (above, below) = (a + (b - a) * u, c + (d - c) * u);
        let slope_x = (b - a) + ((d - c) - (b - a)) * v;
        let slope_y = below - above;
        (above + slope_y * v, [-slope_x, -slope_y, 1.0])
    }
}

fn smooth(t: f64) -> f64 {
    t * t * (3.0 - 2.0 * t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_meet_the_corners_and_the_normal_is_the_slope() {
        let terrain = Terrain::new(32, 5);
        for (x, y) in [(0, 0), (3, 9), (31, 31)] {
            assert!((terrain.at(x as f64, y as f64).0 - terrain.corner(x, y)).abs() < 1e-9);
        }
        let (x, y, h) = (7.3, 11.6, 1e-4);
        let (_, normal) = terrain.at(x, y);
        let slope = (terrain.at(x + h, y).0 - terrain.at(x - h, y).0) / (2.0 * h);
        assert!((slope + normal[0]).abs() < 1e-6);
        let slope = (terrain.at(x, y + h).0 - terrain.at(x, y - h).0) / (2.0 * h);
        assert!((slope + normal[1]).abs() < 1e-6);
    }
}
