//! The models, generated from the seed at any size.

use crate::shape::{self, Mesh, Random};
use glam::Vec3;

/// The model of a viewset, of about so many triangles, inside a ball of radius 1.6.
pub fn model(viewset: &str, triangles: f64, seed: u64) -> Mesh {
    let mut model = Mesh::default();
    match viewset {
        "modelling" => {
            model.add(
                &shape::knot(triangles * 0.6, 2.0, 3.0, 0.24),
                Vec3::ZERO,
                Vec3::splat(0.8),
            );
            model.add(
                &shape::sphere(triangles * 0.2),
                Vec3::new(0.0, 0.0, 0.0),
                Vec3::splat(0.36),
            );
            model.add(
                &shape::hills(triangles * 0.2, seed, 0.05),
                Vec3::new(0.0, -0.95, 0.0),
                Vec3::splat(1.2),
            );
        }
        "automotive" => {
            model.add(&shape::shell(triangles * 0.6), Vec3::ZERO, Vec3::ONE);
            for (x, z) in [(-0.78, 0.45), (0.78, 0.45), (-0.78, -0.45), (0.78, -0.45)] {
                let wheel = shape::knot(triangles * 0.1, 1.0, 0.0, 0.16);
                model.add(&wheel, Vec3::new(x, -0.2, z), Vec3::new(0.16, 0.16, 0.3));
            }
        }
        "simulation" => {
            model.add(
                &shape::hills(triangles * 0.5, seed, 0.25),
                Vec3::new(0.0, -0.3, 0.0),
                Vec3::splat(1.2),
            );
            model.add(
                &shape::knot(triangles * 0.5, 3.0, 2.0, 0.1),
                Vec3::new(0.0, 0.35, 0.0),
                Vec3::splat(0.55),
            );
        }
        "character" => {
            let body = [
                (Vec3::new(0.0, 0.0, 0.0), Vec3::new(0.42, 0.6, 0.32)),
                (Vec3::new(0.0, 0.85, 0.0), Vec3::new(0.28, 0.32, 0.28)),
                (Vec3::new(-0.55, 0.15, 0.0), Vec3::new(0.13, 0.5, 0.13)),
                (Vec3::new(0.55, 0.15, 0.0), Vec3::new(0.13, 0.5, 0.13)),
                (Vec3::new(-0.2, -0.9, 0.0), Vec3::new(0.17, 0.55, 0.17)),
                (Vec3::new(0.2, -0.9, 0.0), Vec3::new(0.17, 0.55, 0.17)),
            ];
            let share = triangles / body.len() as f64;
            for (at, scale) in body {
                model.add(&shape::sphere(share), at, scale);
            }
        }
        "plant" => {
            let mut random = Random::new(seed);
            let part = shape::turned(triangles / 64.0, seed, 6.0);
            for column in 0..8 {
                for row in 0..8 {
                    let at = Vec3::new(column as f32 - 3.5, 0.0, row as f32 - 3.5) * 0.28;
                    let high = 0.1 + 0.35 * random.unit();
                    model.add(
                        &part,
                        at + Vec3::Y * (high * 0.8 - 0.5),
                        Vec3::new(0.1, high, 0.1),
                    );
                }
            }
        }
        "assembly" => {
            let part = shape::turned(triangles / 12.0, seed ^ 3, 10.0);
            for number in 0..12 {
                let turn = number as f32 / 12.0 * std::f32::consts::TAU;
                model.add(
                    &part,
                    Vec3::new(turn.cos(), 0.0, turn.sin()),
                    Vec3::new(0.24, 0.6, 0.24),
                );
            }
        }
        "machinery" => {
            model.add(
                &shape::turned(triangles * 0.5, seed ^ 7, 24.0),
                Vec3::new(-0.45, 0.0, 0.0),
                Vec3::new(0.6, 0.8, 0.6),
            );
            model.add(
                &shape::turned(triangles * 0.5, seed ^ 8, 18.0),
                Vec3::new(0.65, 0.0, 0.1),
                Vec3::new(0.45, 0.8, 0.45),
            );
        }
        _ => {
            model.add(
                &shape::shell(triangles * 0.25),
                Vec3::new(0.0, -0.2, 0.0),
                Vec3::new(0.8, 1.1, 0.9),
            );
            let cylinder = shape::turned(triangles * 0.75 / 6.0, seed ^ 5, 14.0);
            for number in 0..6 {
                let x = (number % 3) as f32 * 0.55 - 0.55;
                let z = if number < 3 { -0.28 } else { 0.28 };
                model.add(
                    &cylinder,
                    Vec3::new(x, 0.35, z),
                    Vec3::new(0.22, 0.42, 0.22),
                );
            }
        }
    }
    model
}
