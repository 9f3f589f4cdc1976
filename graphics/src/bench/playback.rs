//! `graphics.playback`: a clip at its own pace, and how many of its frames come too late.

use super::draw::{self, Drawing};
use super::entry::{open, CHECKSUM, SEMANTICS};
use super::{parameters, video_place, Wanted};
use crate::gpu::{canvas::Canvas, Gpu};
use crate::scene::VIDEO;
use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{Context, Failure, Reading};
use pentathlon_harness::Workload;
use pentathlon_protocol::catalog::{self, parameter, Direction, Factor, Metric, Type};
use pentathlon_protocol::Case;
use serde_json::json;
use std::time::Duration;

pub struct Playback;

/// Frames of one round: two runs of the clip.
const RUNS: u32 = 2;

impl Workload for Playback {
    fn describe(&self) -> catalog::Workload {
        let mut all = vec![parameter(
            "fps",
            Type::Integers,
            json!([60]),
            Some("frames/s"),
            Some((1.0, 1000.0)),
            "frames that are due in a second",
        )];
        all.extend(parameters::common());
        catalog::Workload {
            id: "graphics.playback",
            title: "Video playback at its own pace",
            summary:
                "The clip of graphics.video with a time at which each frame is due: one that is \
                      drawn, or shown in the window, only when the next is due already is dropped.",
            source: "martinovic2012 §4.1, Tab. 7 (PCMark05 WMV video playback)",
            parameters: all,
            factors: vec![Factor::new("fps", "frames due", Some("frames/s"), "linear")],
            metrics: vec![
                Metric::new("dropped", "Frames dropped", "%", Direction::Lower),
                Metric::new(
                    "shown",
                    "Frames shown in time",
                    "frames/s",
                    Direction::Higher,
                ),
            ],
            checksum: CHECKSUM,
            semantics: SEMANTICS,
        }
    }

    fn may_be_zero(&self) -> &'static [&'static str] {
        &["dropped", "shown"]
    }

    fn timeout_s(&self) -> Option<f64> {
        Some(300.0)
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let requested = context.parameters.clone();
        let order = parameters::order(&requested);
        let gpu = open(context)?;
        let wanted = Wanted {
            order,
            place: video_place(),
        };
        draw::prove(&gpu, wanted, |canvas, order| {
            (VIDEO.make)(&gpu, canvas, order, VIDEO.factor.1[0])
        })?;
        let canvas = gpu.guarded(|| Canvas::shown(&gpu, order.width, order.height))?;
        let scene = gpu.guarded(|| (VIDEO.make)(&gpu, &canvas, order, VIDEO.factor.1[0]))??;
        let (mut drawing, picture) = Drawing::begun(&gpu, &canvas, scene, wanted)?;
        let (width, height, jpeg) = picture.shown();
        for fps in requested.integers("fps") {
            let case = Case::new().with("fps", fps);
            context.picture(&case, width, height, jpeg.clone());
            context.rounds(&case, |clock, _| {
                let readings = play(&gpu, &canvas, &mut drawing, clock, fps, &case)?;
                drawing.judge(&gpu, &canvas)?;
                Ok::<_, Failure>(readings)
            });
        }
        Ok(())
    }
}

fn play(
    gpu: &Gpu,
    canvas: &Canvas,
    drawing: &mut Drawing,
    clock: &Clock,
    fps: u64,
    case: &Case,
) -> Result<Vec<Reading>, Failure> {
    let period = drawing.scene.period();
    let gap_ns = 1e9 / fps as f64;
    let begin = clock.ticks();
    let mut dropped = 0u32;
    let mut drawn = false;
    for number in 0..RUNS * period {
        let due_ns = f64::from(number) * gap_ns;
        let early_ns = due_ns - clock.elapsed_ns(begin, clock.ticks());
        if early_ns > 0.0 {
            std::thread::sleep(Duration::from_nanos(early_ns as u64));
        }
        if number % period == 0 {
            drawing.scene.restart(gpu);
        }
        // A late frame is decoded all the same: the next ones are made from it.
        drawing.scene.before(gpu)?;
        let late = || clock.elapsed_ns(begin, clock.ticks()) >= due_ns + gap_ns;
        let refused = canvas.refused();
        drawn = !late();
        if drawn {
            drawing.frame(gpu, canvas)?;
        }
        if late() || canvas.refused() > refused {
            dropped += 1;
        }
    }
    let elapsed_ns = clock.elapsed_ns(begin, clock.ticks());
    if !drawn {
        // The last frame is judged, which was decoded in any case.
        drawing.frame(gpu, canvas)?;
    }
    let frames = RUNS * period;
    let reading = |metric, value| Reading {
        metric,
        case: case.clone(),
        value,
        operations: u64::from(frames),
        elapsed_ns,
        checksum: drawing.scene.amount(),
    };
    Ok(vec![
        reading("dropped", f64::from(dropped) / f64::from(frames) * 100.0),
        reading("shown", f64::from(frames - dropped) / elapsed_ns * 1e9),
    ])
}
