//! Eight viewsets of engineering programs: one model each, drawn in every way in which its users look
//! at it, each way with its weight (SPECviewperf 10).

mod model;
mod picture;
mod volume;
mod ways;

use super::{Order, Scene};
use crate::gpu::Gpu;
use crate::shape::Mesh;
use pentathlon_harness::measure::Failure;
use ways::Sent;

/// The ways of drawing, in the order of the weights.
pub const WAYS: [&str; 6] = [
    "wireframe",
    "hidden-line",
    "shaded",
    "transparent",
    "textured",
    "volume",
];

/// A model, and what each way of drawing it counts in the composite.
pub struct Viewset {
    pub name: &'static str,
    pub weights: [f64; WAYS.len()],
    /// Triangles at scale 1.
    triangles: f64,
    /// How many times as far the eye is as is usual: long models are seen from further away.
    away: f32,
}

const fn viewset(
    name: &'static str,
    triangles: f64,
    away: f32,
    weights: [f64; WAYS.len()],
) -> Viewset {
    Viewset {
        name,
        weights,
        triangles,
        away,
    }
}

/// In the order of the paper's metrics: 3ds max, CATIA, EnSight, Maya, Pro/ENGINEER, SolidWorks,
/// UGS Teamcenter Visualization Mockup, UGS NX. The weights of each add up to 1; they are our own.
pub const VIEWSETS: &[Viewset] = &[
    viewset("modelling", 24e3, 1.25, [0.2, 0.1, 0.3, 0.1, 0.25, 0.05]),
    viewset("automotive", 40e3, 1.2, [0.1, 0.25, 0.3, 0.2, 0.1, 0.05]),
    viewset("simulation", 30e3, 1.25, [0.1, 0.05, 0.3, 0.15, 0.1, 0.3]),
    viewset("character", 16e3, 1.2, [0.15, 0.05, 0.25, 0.1, 0.4, 0.05]),
    viewset("machinery", 36e3, 1.0, [0.2, 0.3, 0.3, 0.1, 0.05, 0.05]),
    viewset("assembly", 32e3, 1.1, [0.1, 0.15, 0.4, 0.2, 0.1, 0.05]),
    viewset("plant", 64e3, 1.2, [0.25, 0.1, 0.45, 0.1, 0.05, 0.05]),
    viewset("engine", 48e3, 1.0, [0.1, 0.25, 0.3, 0.2, 0.1, 0.05]),
];

/// A viewset's model in the adapter's memory.
pub struct Model(Sent);

impl Model {
    /// # Errors
    /// It is too large for the adapter (`unsupported`).
    pub fn new(gpu: &Gpu, viewset: &Viewset, order: Order) -> Result<Self, Failure> {
        let mesh: Mesh = model::model(viewset.name, viewset.triangles * order.scale, order.seed);
        let volume = match viewset.name {
            "simulation" => volume::smoke(),
            _ => volume::matter(&mesh),
        };
        Ok(Self(Sent::new(gpu, &mesh, &volume, viewset.away)?))
    }

    /// The scene that draws it in one of the [`WAYS`].
    pub fn scene(&self, gpu: &Gpu, way: &str) -> Box<dyn Scene> {
        self.0.scene(gpu, way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_of_each_viewset_add_up_and_leave_no_way_out() {
        assert_eq!(VIEWSETS.len(), 8);
        for viewset in VIEWSETS {
            let sum: f64 = viewset.weights.iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{}", viewset.name);
            assert!(viewset.weights.iter().all(|weight| *weight > 0.0));
        }
    }

    #[test]
    fn models_have_the_triangles_that_were_asked_for() {
        for viewset in VIEWSETS {
            for wanted in [1e4, 1e5] {
                let model = model::model(viewset.name, wanted, 1);
                let ratio = model.triangles() as f64 / wanted;
                assert!((0.8..1.25).contains(&ratio), "{} {ratio}", viewset.name);
            }
        }
    }
}
