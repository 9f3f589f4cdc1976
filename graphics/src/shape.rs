//! Shapes made from numbers: everything that is drawn is generated, the same on every system.

use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

/// A corner: where it is, which way its surface faces, and its place on a texture.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Vertex {
    pub position: Vec3,
    pub normal: Vec3,
    pub texture: Vec2,
}

impl Vertex {
    pub const LAYOUT: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
        array_stride: 32,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32x2],
    };
}

/// Triangles over shared corners.
#[derive(Clone, Default)]
pub struct Mesh {
    pub vertices: Vec<Vertex>,
    pub indices: Vec<u32>,
}

impl Mesh {
    pub fn triangles(&self) -> usize {
        self.indices.len() / 3
    }

    /// The edges of the squares that it was made from, as pairs of corners.
    pub fn edges(&self) -> Vec<u32> {
        // Squares come as two triangles a b c, c b d: the diagonal b-c is left out.
        self.indices
            .chunks_exact(6)
            .flat_map(|q| [q[0], q[1], q[0], q[2]])
            .collect()
    }

    /// Adds another shape, moved and scaled.
    pub fn add(&mut self, other: &Mesh, at: Vec3, scale: Vec3) {
        let first = self.vertices.len() as u32;
        self.vertices
            .extend(other.vertices.iter().map(|vertex| Vertex {
                position: vertex.position * scale + at,
                normal: (vertex.normal / scale).normalize_or_zero(),
                ..*vertex
            }));
        self.indices
            .extend(other.indices.iter().map(|index| index + first));
    }
}

/// A surface over a grid of `columns` x `rows` squares: `surface` gives the place for u and v from
/// 0 to 1, normals follow from its neighbourhood.
pub fn surface(columns: u32, rows: u32, surface: impl Fn(f32, f32) -> Vec3) -> Mesh {
    let mut mesh = Mesh::default();
    const STEP: f32 = 1e-3;
    for row in 0..=rows {
        for column in 0..=columns {
            let (u, v) = (column as f32 / columns as f32, row as f32 / rows as f32);
            let along = surface(u + STEP, v) - surface(u - STEP, v);
            let across = surface(u, v + STEP) - surface(u, v - STEP);
            mesh.vertices.push(Vertex {
                position: surface(u, v),
                normal: along.cross(across).normalize_or(Vec3::Y),
                texture: Vec2::new(u, v),
            });
        }
    }
    for row in 0..rows {
        for column in 0..columns {
            let a = row * (columns + 1) + column;
            let (b, c) = (a + 1, a + columns + 1);
            mesh.indices.extend([a, b, c, c, b, c + 1]);
        }
    }
    mesh
}

/// Columns and rows of a grid of about so many triangles, `ratio` times as many columns as rows.
pub fn grid(triangles: f64, ratio: f64) -> (u32, u32) {
    let rows = (triangles / 2.0 / ratio).sqrt().max(3.0);
    ((rows * ratio).round() as u32, rows.round() as u32)
}

/// A torus knot that winds `p` times around and `q` times through.
pub fn knot(triangles: f64, p: f32, q: f32, thickness: f32) -> Mesh {
    let (columns, rows) = grid(triangles, 8.0);
    let centre = |u: f32| {
        let angle = u * TAU;
        let radius = 1.0 + 0.42 * (q * angle).cos();
        Vec3::new(
            radius * (p * angle).cos(),
            radius * (p * angle).sin(),
            0.55 * (q * angle).sin(),
        )
    };
    surface(columns, rows, move |u, v| {
        let ahead = (centre(u + 1e-3) - centre(u - 1e-3)).normalize();
        let side = ahead.cross(Vec3::new(0.21, 0.31, 0.93)).normalize();
        let up = side.cross(ahead);
        let (sin, cos) = (v * TAU).sin_cos();
        centre(u) + (side * cos + up * sin) * thickness
    })
}

pub fn sphere(triangles: f64) -> Mesh {
    let (columns, rows) = grid(triangles, 2.0);
    surface(columns, rows, |u, v| {
        // The poles are left open by a hair: a normal needs an area.
        let (sin, cos) = ((v * 0.998 + 0.001) * TAU / 2.0).sin_cos();
        Vec3::new(sin * (u * TAU).cos(), cos, sin * (u * TAU).sin())
    })
}

/// A turned part: a profile of steps and grooves drawn from `seed`, around the axis y.
pub fn turned(triangles: f64, seed: u64, teeth: f32) -> Mesh {
    let (columns, rows) = grid(triangles, 1.5);
    let mut random = Random::new(seed);
    let steps: Vec<f32> = (0..9).map(|_| 0.35 + 0.65 * random.unit()).collect();
    surface(columns, rows, move |u, v| {
        let place = (v.clamp(0.0, 1.0) * 8.0).min(7.999);
        let (step, part) = (place as usize, place.fract());
        let smooth = ((part - 0.35) / 0.3).clamp(0.0, 1.0);
        let smooth = smooth * smooth * (3.0 - 2.0 * smooth);
        let radius = steps[step] * (1.0 - smooth) + steps[step + 1] * smooth;
        let cog = if step % 3 == 1 {
            0.07 * (u * TAU * teeth).sin().clamp(-0.5, 0.5)
        } else {
            0.0
        };
        let (sin, cos) = (u * TAU).sin_cos();
        Vec3::new((radius + cog) * cos, 1.6 * v - 0.8, -(radius + cog) * sin)
    })
}

/// A car-like body: a long smooth shell with wheel arches and a cabin.
pub fn shell(triangles: f64) -> Mesh {
    let (columns, rows) = grid(triangles, 2.0);
    surface(columns, rows, |u, v| {
        let along = u * 2.0 - 1.0;
        let angle = v * TAU;
        let cabin = (-(along * 1.9 + 0.1).powi(4)).exp();
        let nose = (1.0 - along.abs().powi(6)).max(0.0).sqrt();
        let arch = 1.0
            - 0.3
                * ((-(along - 0.55).powi(2) * 90.0).exp() + (-(along + 0.55).powi(2) * 90.0).exp());
        let (sin, cos) = angle.sin_cos();
        let height = if sin > 0.0 {
            0.22 + 0.3 * cabin
        } else {
            0.24 * arch
        };
        Vec3::new(
            along * 1.45,
            height * sin * nose,
            -0.55 * cos.signum() * cos.abs().powf(0.6) * nose,
        )
    })
}

/// Hills over the square from -1 to 1, the same for the same seed whatever the grid.
pub fn hills(triangles: f64, seed: u64, height: f32) -> Mesh {
    let (columns, rows) = grid(triangles, 1.0);
    let mut random = Random::new(seed);
    let waves: Vec<(Vec2, f32, f32)> = (0..14)
        .map(|octave| {
            let frequency = 1.5 * 1.38f32.powi(octave);
            let (sin, cos) = (random.unit() * TAU).sin_cos();
            (
                Vec2::new(cos, sin) * frequency,
                random.unit() * TAU,
                1.0 / frequency,
            )
        })
        .collect();
    surface(columns, rows, move |u, v| {
        let at = Vec2::new(u * 2.0 - 1.0, v * 2.0 - 1.0);
        let sum: f32 = waves
            .iter()
            .map(|(way, phase, size)| (at.dot(*way) * 2.2 + phase).sin() * size)
            .sum();
        Vec3::new(at.x, height * sum, -at.y)
    })
}

/// Numbers that look random: SplitMix64 (Steele, Lea and Flood 2014).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to 1, without 1.
    pub fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u64 << 24) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_has_about_the_triangles_that_were_asked_for_and_finite_unit_normals() {
        let all = [
            knot(5e3, 2.0, 3.0, 0.2),
            sphere(5e3),
            turned(5e3, 7, 12.0),
            shell(5e3),
            hills(5e3, 7, 0.1),
        ];
        for mesh in &all {
            assert!(
                (mesh.triangles() as f64 / 5e3 - 1.0).abs() < 0.1,
                "{}",
                mesh.triangles()
            );
            assert!(mesh.vertices.iter().all(|v| v.position.is_finite()));
            assert!(mesh
                .vertices
                .iter()
                .all(|v| (v.normal.length() - 1.0).abs() < 1e-3));
            assert!(mesh
                .indices
                .iter()
                .all(|i| (*i as usize) < mesh.vertices.len()));
            assert_eq!(mesh.edges().len(), mesh.triangles() * 2);
        }
    }

    #[test]
    fn a_seed_gives_the_same_shape_and_another_seed_another() {
        let heights = |seed| -> Vec<f32> {
            hills(2e3, seed, 0.1)
                .vertices
                .iter()
                .map(|vertex| vertex.position.y)
                .collect()
        };
        assert_eq!(heights(1), heights(1));
        assert_ne!(heights(1), heights(2));
    }
}
