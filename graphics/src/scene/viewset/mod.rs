//! Eight viewsets of engineering programs: one model each, drawn in the ways in which its users look
//! at it, each with its weight (SPECviewperf 10).

mod model;
mod ways;

use super::{Order, Scene};
use crate::gpu::{canvas::Canvas, Gpu};
use pentathlon_agent::measure::Failure;

/// A way of drawing, and its weight in the viewset's composite.
pub struct Test {
    pub name: &'static str,
    pub weight: f64,
}

/// A model and its tests.
pub struct Viewset {
    pub name: &'static str,
    pub tests: &'static [Test],
    /// Triangles at scale 1.
    triangles: f64,
}

const fn test(name: &'static str, weight: f64) -> Test {
    Test { name, weight }
}

/// In the order of the paper's indicators: 3ds max, CATIA, EnSight, Maya, Pro/ENGINEER, SolidWorks,
/// UGS Teamcenter Visualization Mockup, UGS NX. The weights of each add up to 1.
pub const VIEWSETS: &[Viewset] = &[
    Viewset {
        name: "modelling",
        tests: &[
            test("wireframe", 0.3),
            test("shaded", 0.4),
            test("textured", 0.3),
        ],
        triangles: 24_000.0,
    },
    Viewset {
        name: "automotive",
        tests: &[
            test("shaded", 0.4),
            test("hidden-line", 0.3),
            test("transparent", 0.3),
        ],
        triangles: 40_000.0,
    },
    Viewset {
        name: "simulation",
        tests: &[
            test("shaded", 0.4),
            test("wireframe", 0.2),
            test("volume", 0.4),
        ],
        triangles: 30_000.0,
    },
    Viewset {
        name: "character",
        tests: &[
            test("textured", 0.5),
            test("shaded", 0.3),
            test("wireframe", 0.2),
        ],
        triangles: 16_000.0,
    },
    Viewset {
        name: "machinery",
        tests: &[
            test("hidden-line", 0.4),
            test("shaded", 0.4),
            test("wireframe", 0.2),
        ],
        triangles: 36_000.0,
    },
    Viewset {
        name: "assembly",
        tests: &[
            test("shaded", 0.5),
            test("textured", 0.25),
            test("transparent", 0.25),
        ],
        triangles: 32_000.0,
    },
    Viewset {
        name: "plant",
        tests: &[test("shaded", 0.7), test("wireframe", 0.3)],
        triangles: 64_000.0,
    },
    Viewset {
        name: "engine",
        tests: &[
            test("shaded", 0.4),
            test("transparent", 0.3),
            test("hidden-line", 0.3),
        ],
        triangles: 48_000.0,
    },
];

/// The scene of one test.
///
/// # Errors
/// The adapter cannot draw it.
pub fn make(
    gpu: &Gpu,
    _canvas: &Canvas,
    order: Order,
    viewset: &Viewset,
    test: &str,
) -> Result<Box<dyn Scene>, Failure> {
    let model = model::model(viewset.name, viewset.triangles * order.scale, order.seed);
    ways::make(gpu, &model, test)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_add_up_and_names_are_known() {
        assert_eq!(VIEWSETS.len(), 8);
        for viewset in VIEWSETS {
            let sum: f64 = viewset.tests.iter().map(|test| test.weight).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{}", viewset.name);
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
