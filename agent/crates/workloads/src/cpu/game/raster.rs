//! The picture: shaded triangles with a depth buffer, filled by edge functions in whole numbers
//! (J. Pineda, SIGGRAPH 1988), so neighbouring triangles neither overlap nor leave gaps.

use super::vector::{cross, dot, length, subtract, Vector};

/// Positions on the screen are in sixteenths of a pixel.
const FRACTION: f64 = 16.0;
/// Nothing nearer than this to the eye is drawn.
const NEAR: f64 = 0.5;

/// Where the eye is and where it looks.
pub struct Camera {
    eye: Vector,
    right: Vector,
    up: Vector,
    forward: Vector,
    /// Pixels for a slope of 1.
    zoom: f64,
    pub width: usize,
    pub height: usize,
}

impl Camera {
    pub fn new(eye: Vector, target: Vector, width: usize, height: usize) -> Self {
        let unit = |v: Vector| v.map(|x| x / length(v));
        let forward = unit(subtract(target, eye));
        let right = unit(cross(forward, [0.0, 0.0, 1.0]));
        Self {
            eye,
            right,
            up: cross(right, forward),
            forward,
            zoom: width as f64 * 0.8,
            width,
            height,
        }
    }

    /// Screen position in sixteenths and depth as 1/distance; none behind the eye.
    fn project(&self, point: Vector) -> Option<Corner> {
        let from = subtract(point, self.eye);
        let depth = dot(from, self.forward);
        if depth < NEAR {
            return None;
        }
        let nearness = 1.0 / depth;
        let x = self.width as f64 / 2.0 + self.zoom * dot(from, self.right) * nearness;
        let y = self.height as f64 / 2.0 - self.zoom * dot(from, self.up) * nearness;
        // Far outside, the whole numbers would run over.
        if x.abs() > 32_000.0 || y.abs() > 32_000.0 {
            return None;
        }
        Some(Corner {
            x: (x * FRACTION) as i32,
            y: (y * FRACTION) as i32,
            nearness: nearness as f32,
        })
    }
}

#[derive(Debug, Clone, Copy)]
struct Corner {
    x: i32,
    y: i32,
    nearness: f32,
}

/// A triangle on the screen, its corners in the turn that makes its area positive.
pub struct Triangle {
    corners: [Corner; 3],
    colour: u32,
}

/// Puts a triangle of the scene on the screen, shaded by the sun; none if it faces away or is
/// behind the eye.
pub fn triangle(camera: &Camera, points: [Vector; 3], colour: [u8; 3]) -> Option<Triangle> {
    let [a, b, c] = points;
    let normal = cross(subtract(b, a), subtract(c, a));
    if dot(normal, subtract(a, camera.eye)) >= 0.0 {
        return None;
    }
    let sun = [0.48, 0.36, 0.8];
    let light = 0.25 + 0.75 * (dot(normal, sun) / length(normal)).max(0.0);
    let level = |part: u8| (f64::from(part) * light) as u32;
    let colour = level(colour[0]) << 16 | level(colour[1]) << 8 | level(colour[2]);
    let corners = [camera.project(a)?, camera.project(c)?, camera.project(b)?];
    Some(Triangle { corners, colour })
}

/// A band of rows of the picture.
pub struct Band<'a> {
    pub first_row: usize,
    pub width: usize,
    pub pixels: &'a mut [u32],
    pub nearness: &'a mut [f32],
}

impl Band<'_> {
    pub fn clear(&mut self, sky: u32) {
        self.pixels.fill(sky);
        self.nearness.fill(0.0);
    }

    pub fn draw(&mut self, triangle: &Triangle) {
        let [a, b, c] = triangle.corners;
        let area = edge(a, b, c.x, c.y);
        if area <= 0 {
            return;
        }
        let rows = self.pixels.len() / self.width;
        let pixel = |sixteenths: i32| sixteenths.div_euclid(FRACTION as i32);
        let top = pixel(a.y.min(b.y).min(c.y)).max(self.first_row as i32);
        let bottom = pixel(a.y.max(b.y).max(c.y)).min((self.first_row + rows) as i32 - 1);
        let left = pixel(a.x.min(b.x).min(c.x)).max(0);
        let right = pixel(a.x.max(b.x).max(c.x)).min(self.width as i32 - 1);
        if left > right {
            return;
        }
        let whole = area as f32;
        for y in top..=bottom {
            let row = (y as usize - self.first_row) * self.width;
            let (px, py) = (left * 16 + 8, y * 16 + 8);
            let mut inside = [edge(b, c, px, py), edge(c, a, px, py), edge(a, b, px, py)];
            let bias = [bias(b, c), bias(c, a), bias(a, b)];
            let step = [b.y - c.y, c.y - a.y, a.y - b.y].map(|dy| i64::from(dy) * 16);
            for x in left..=right {
                if inside[0] >= bias[0] && inside[1] >= bias[1] && inside[2] >= bias[2] {
                    let nearness = (inside[0] as f32 * a.nearness
                        + inside[1] as f32 * b.nearness
                        + inside[2] as f32 * c.nearness)
                        / whole;
                    let at = row + x as usize;
                    if nearness > self.nearness[at] {
                        self.nearness[at] = nearness;
                        self.pixels[at] = triangle.colour;
                    }
                }
                for side in 0..3 {
                    inside[side] += step[side];
                }
            }
        }
    }
}

/// Twice the area of the triangle of an edge and a point: positive on its inner side.
fn edge(from: Corner, to: Corner, x: i32, y: i32) -> i64 {
    i64::from(to.x - from.x) * i64::from(y - from.y)
        - i64::from(to.y - from.y) * i64::from(x - from.x)
}

/// A pixel's centre exactly on an edge belongs to the triangle whose top or left edge it is.
fn bias(from: Corner, to: Corner) -> i64 {
    let top_or_left = to.y < from.y || (to.y == from.y && to.x > from.x);
    i64::from(!top_or_left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner(x: i32, y: i32, nearness: f32) -> Corner {
        Corner { x, y, nearness }
    }

    fn draw(triangles: &[Triangle]) -> (Vec<u32>, Vec<f32>) {
        let (mut pixels, mut nearness) = (vec![0; 64 * 64], vec![0.0; 64 * 64]);
        let mut band = Band {
            first_row: 0,
            width: 64,
            pixels: &mut pixels,
            nearness: &mut nearness,
        };
        triangles.iter().for_each(|triangle| band.draw(triangle));
        (pixels, nearness)
    }

    #[test]
    fn triangles_around_a_point_cover_every_pixel_exactly_once() {
        // A fan around an odd centre, closed: each pixel of the square belongs to one part.
        let rim = [
            (0, 0),
            (400, 0),
            (1023, 0),
            (1023, 700),
            (1023, 1023),
            (77, 1023),
            (0, 1023),
        ];
        let mut covered = vec![0; 64 * 64];
        for (i, &(x, y)) in rim.iter().enumerate() {
            let (nx, ny) = rim[(i + 1) % rim.len()];
            let corners = [
                corner(503, 371, 1.0),
                corner(x, y, 1.0),
                corner(nx, ny, 1.0),
            ];
            let (pixels, _) = draw(&[Triangle { corners, colour: 1 }]);
            for (sum, pixel) in covered.iter_mut().zip(pixels) {
                *sum += pixel;
            }
        }
        assert!(covered.iter().all(|&times| times == 1));
    }

    #[test]
    fn the_nearer_triangle_hides_the_farther_in_either_order() {
        let make = |nearness, colour| Triangle {
            corners: [
                corner(0, 0, nearness),
                corner(1600, 0, nearness),
                corner(0, 1600, nearness),
            ],
            colour,
        };
        let (one, _) = draw(&[make(0.5, 7), make(0.9, 8)]);
        let (other, _) = draw(&[make(0.9, 8), make(0.5, 7)]);
        assert_eq!(one, other);
        assert_eq!(one[0], 8);
    }

    #[test]
    fn a_triangle_is_seen_from_its_front_only_where_the_camera_looks() {
        let camera = Camera::new([0.0, -10.0, 0.0], [0.0, 0.0, 0.0], 64, 64);
        let points = [[-2.0, 0.0, -2.0], [2.0, 0.0, -2.0], [0.0, 0.0, 2.0]];
        let front = triangle(&camera, points, [200, 200, 200]).expect("faces the eye");
        let (pixels, nearness) = draw(&[front]);
        assert_ne!(pixels[32 * 64 + 32], 0);
        assert!((nearness[32 * 64 + 32] - 0.1).abs() < 1e-4);
        assert_eq!(pixels[2 * 64 + 2], 0);
        let [a, b, c] = points;
        assert!(triangle(&camera, [a, c, b], [200; 3]).is_none());
        let behind = points.map(|p| [p[0], p[1] - 20.0, p[2]]);
        assert!(triangle(&camera, behind, [200; 3]).is_none());
    }
}
