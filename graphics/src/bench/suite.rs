//! `graphics.viewset`: eight models, each with its tests and two means over them.

use super::draw::{self, Drawing};
use super::entry::{open, CHECKSUM, SEMANTICS};
use super::{apart, parameters, viewsets_start, Wanted};
use crate::gpu::{canvas::Canvas, Gpu};
use crate::scene::{Model, Viewset, VIEWSETS, WAYS};
use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{Context, Failure, Reading};
use pentathlon_harness::Workload;
use pentathlon_protocol::catalog::{self, Direction, Factor, Metric};
use pentathlon_protocol::Case;

pub struct Suite;

fn metric(id: &'static str, title: &'static str) -> Metric {
    Metric::new(id, title, "frames/s", Direction::Higher)
}

/// Cases of the composite and of the rate of the total time, beside the names of the tests.
const COMPOSITE: &str = "composite";

impl Workload for Suite {
    fn describe(&self) -> catalog::Workload {
        let names: Vec<&'static str> = VIEWSETS.iter().map(|viewset| viewset.name).collect();
        let viewsets = parameters::cases("viewset", names, "the models that are drawn");
        let mut all = vec![viewsets];
        all.extend(parameters::common());
        catalog::Workload {
            id: "graphics.viewset",
            title: "Viewsets",
            summary: "Models of eight kinds of engineering program, each drawn as wireframe, hidden line, \
                      shaded, transparent, textured and as a volume. The composite is the weighted \
                      geometric mean of the tests' rates in one round; beside it stands the rate of \
                      the total time for the same weights.",
            source: "martinovic2012 §4.3, formula (2), Fig. 5, Fig. 6 (SPECviewperf 10)",
            parameters: all,
            factors: vec![
                Factor::category("viewset", "viewset"),
                Factor::category("test", "test"),
            ],
            metrics: [
                metric("composite", "Weighted geometric mean of the tests' frame rates"),
                metric("of_total_time", "Frames over total time (weighted harmonic mean)"),
                metric("rate", "Frames drawn"),
            ]
            .into_iter()
            .chain(apart::PARTS)
            .collect(),
            checksum: CHECKSUM,
            semantics: SEMANTICS,
        }
    }

    fn histograms(&self) -> Vec<catalog::Histogram> {
        vec![apart::FRAMES]
    }

    fn may_be_zero(&self) -> &'static [&'static str] {
        &[apart::DROPPED.id]
    }

    fn context(&self) -> &'static [&'static str] {
        apart::CONTEXT
    }

    fn timeout_s(&self) -> Option<f64> {
        Some(600.0)
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let requested = context.parameters.clone();
        let order = parameters::order(&requested);
        let gpu = open(context)?;
        let mut place = viewsets_start();
        for viewset in VIEWSETS {
            if requested.texts("viewset").contains(&viewset.name) {
                let case = of_test(viewset, COMPOSITE);
                if let Err(failure) = measure(context, &gpu, Wanted { order, place }, viewset) {
                    context.fail(Some(&case), &failure);
                }
            }
            place += WAYS.len();
        }
        Ok(())
    }
}

/// The case of one test of a viewset, or of the composite of all of them.
fn of_test(viewset: &Viewset, test: &str) -> Case {
    Case::new().with("viewset", viewset.name).with("test", test)
}

fn measure(
    context: &mut Context<'_>,
    gpu: &Gpu,
    wanted: Wanted,
    viewset: &'static Viewset,
) -> Result<(), Failure> {
    prove(gpu, wanted, viewset)?;
    let canvas = gpu.guarded(|| Canvas::shown(gpu, wanted.order.width, wanted.order.height))?;
    let model = gpu.guarded(|| Model::new(gpu, viewset, wanted.order))??;
    let mut drawings = Vec::new();
    for (number, way) in WAYS.into_iter().enumerate() {
        let wanted = Wanted {
            place: wanted.place + number,
            ..wanted
        };
        let scene = gpu.guarded(|| model.scene(gpu, way))?;
        let (drawing, picture) = Drawing::begun(gpu, &canvas, scene, wanted)?;
        let (width, height, jpeg) = picture.shown();
        let case = of_test(viewset, way);
        context.picture(&case, width, height, jpeg);
        drawings.push((drawing, case));
    }
    let case = of_test(viewset, COMPOSITE);
    context.rounds(&case, |clock, wanted_ns| {
        round(gpu, &canvas, viewset, &mut drawings, clock, wanted_ns)
    });
    for (drawing, case) in &mut drawings {
        context.rounds(case, |clock, wanted_ns| {
            apart::round(gpu, &canvas, drawing.scene.as_mut(), case, clock, wanted_ns)
        });
    }
    Ok(())
}

/// Draws every test as its reference was drawn, where another size is requested.
fn prove(gpu: &Gpu, wanted: Wanted, viewset: &Viewset) -> Result<(), Failure> {
    let reference = parameters::REFERENCE;
    if wanted.order == reference {
        return Ok(());
    }
    gpu.guarded(|| {
        let canvas = Canvas::new(gpu, reference.width, reference.height);
        let model = Model::new(gpu, viewset, reference)?;
        for (number, way) in WAYS.into_iter().enumerate() {
            let scene = model.scene(gpu, way);
            draw::prove_scene(gpu, &canvas, wanted.place + number, scene)?;
        }
        Ok(())
    })?
}

/// Every test once, for about `wanted_ns` each, and the two means over them.
fn round(
    gpu: &Gpu,
    canvas: &Canvas,
    viewset: &Viewset,
    drawings: &mut [(Drawing, Case)],
    clock: &Clock,
    wanted_ns: f64,
) -> Result<Vec<Reading>, Failure> {
    let mut readings = Vec::new();
    let mut total_ns = 0.0;
    let mut amount = 0u64;
    for (drawing, case) in drawings.iter_mut() {
        let (frames, elapsed_ns) = timed(gpu, canvas, drawing, clock, wanted_ns)?;
        drawing.judge(gpu, canvas)?;
        total_ns += elapsed_ns;
        amount = amount.wrapping_mul(31).wrapping_add(drawing.scene.amount());
        readings.push(Reading {
            metric: "rate",
            case: case.clone(),
            value: frames as f64 / elapsed_ns * 1e9,
            operations: frames,
            elapsed_ns,
            checksum: drawing.scene.amount(),
        });
    }
    let rates: Vec<f64> = readings.iter().map(|reading| reading.value).collect();
    let case = of_test(viewset, COMPOSITE);
    for (metric, value) in [
        ("composite", geometric(&rates, &viewset.weights)),
        ("of_total_time", harmonic(&rates, &viewset.weights)),
    ] {
        readings.push(Reading {
            metric,
            case: case.clone(),
            value,
            operations: 1,
            elapsed_ns: total_ns,
            checksum: amount,
        });
    }
    Ok(readings)
}

/// Draws until `wanted_ns` are over, doubling the frames; the last batch counts.
fn timed(
    gpu: &Gpu,
    canvas: &Canvas,
    drawing: &mut Drawing,
    clock: &Clock,
    wanted_ns: f64,
) -> Result<(u64, f64), Failure> {
    let mut frames = 1;
    loop {
        let from = clock.ticks();
        drawing.operation(gpu, canvas, frames)?;
        let elapsed_ns = clock.elapsed_ns(from, clock.ticks());
        if elapsed_ns >= wanted_ns || frames >= 1 << 20 {
            return Ok((frames, elapsed_ns));
        }
        let needed = (frames as f64 * wanted_ns / elapsed_ns.max(1.0) * 1.1).ceil() as u64;
        frames = needed.clamp(frames + 1, frames * 16);
    }
}

/// Weighted geometric mean (martinovic2012, formula (2)).
fn geometric(rates: &[f64], weights: &[f64]) -> f64 {
    rates
        .iter()
        .zip(weights)
        .map(|(rate, weight)| weight * rate.ln())
        .sum::<f64>()
        .exp()
}

/// Weighted harmonic mean: the rate of one run in which the shares of the frames are the weights.
fn harmonic(rates: &[f64], weights: &[f64]) -> f64 {
    1.0 / rates
        .iter()
        .zip(weights)
        .map(|(rate, weight)| weight / rate)
        .sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_means_are_those_of_the_textbook() {
        assert!((geometric(&[4.0, 9.0], &[0.5, 0.5]) - 6.0).abs() < 1e-12);
        // 30 frames at 10/s and 70 at 70/s take 4 s together.
        assert!((harmonic(&[10.0, 70.0], &[0.3, 0.7]) - 25.0).abs() < 1e-12);
        assert!((geometric(&[8.0, 8.0], &[0.2, 0.8]) - 8.0).abs() < 1e-12);
    }
}
