//! One scene, or a few that differ in one factor, as a workload.

use super::draw::{self, Drawing};
use super::{apart, parameters, Wanted};
use crate::gpu::{canvas::Canvas, choose, describe, Gpu};
use crate::scene::Entry;
use pentathlon_harness::measure::{Body, Context, Failure, Quantity};
use pentathlon_harness::Workload;
use pentathlon_protocol::catalog::{self, Direction, Factor, Metric, Semantics};
use pentathlon_protocol::Case;

pub const CHECKSUM: &str =
    "amount of geometry or data of the scene, the same on every system; the \
                            picture itself is compared with a reference, since drivers round apart";

pub const SEMANTICS: Semantics = Semantics {
    linux: "Vulkan or OpenGL (EGL), without a window or in one of X11; lavapipe and llvmpipe draw \
            by the CPU",
    windows: "Direct3D 12, Vulkan or OpenGL, without a window or in one of Win32; WARP draws by \
              the CPU",
};

/// A scene's entry and the place of its first reference.
#[derive(Clone, Copy)]
pub struct Single(pub &'static Entry, pub usize);

impl Workload for Single {
    fn describe(&self) -> catalog::Workload {
        let entry = self.0;
        let (factor, choices) = entry.factor;
        let cases = parameters::cases(factor, choices.to_vec(), "the cases that are drawn");
        let mut all = vec![cases];
        all.extend(parameters::common());
        catalog::Workload {
            id: entry.id,
            title: entry.title,
            summary: entry.summary,
            source: entry.source,
            parameters: all,
            factors: vec![Factor::category(factor, factor)],
            metrics: [Metric::new(
                "rate",
                entry.metric,
                entry.unit,
                Direction::Higher,
            )]
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
        Some(300.0)
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let requested = context.parameters.clone();
        let order = parameters::order(&requested);
        let gpu = open(context)?;
        let (factor, choices) = self.0.factor;
        for choice in requested.texts(factor) {
            let number = choices
                .iter()
                .position(|known| *known == choice)
                .unwrap_or(0);
            let case = Case::new().with(factor, choices[number]);
            let wanted = Wanted {
                order,
                place: self.1 + number,
            };
            if let Err(failure) = self.case(context, &gpu, wanted, choices[number], &case) {
                context.fail(Some(&case), &failure);
            }
        }
        Ok(())
    }
}

/// The adapter that the request names; what it is goes to the record.
pub fn open(context: &mut Context<'_>) -> Result<Gpu, Failure> {
    let requested = context.parameters.clone();
    let window = parameters::window(&requested);
    let gpu = choose::open(requested.text("api"), requested.text("adapter"), window)?;
    context.counter("graphics_adapter".into(), describe::adapter(&gpu.info));
    if let Some(screen) = &gpu.screen {
        context.counter("graphics_window".into(), screen.describe());
    }
    if describe::is_software(&gpu.info) {
        let name = &gpu.info.name;
        context.log(format!(
            "{name} draws by the CPU: these are figures of the CPU and its driver"
        ));
    }
    if !gpu.timestamps {
        let failure = Failure::Unsupported(format!(
            "{} has no timestamps, so its own time for a frame is not known",
            gpu.info.name
        ));
        context.fail(Some(&Case::new().with("part", "gpu")), &failure);
    }
    Ok(gpu)
}

impl Single {
    fn case(
        &self,
        context: &mut Context<'_>,
        gpu: &Gpu,
        wanted: Wanted,
        choice: &str,
        case: &Case,
    ) -> Result<(), Failure> {
        draw::prove(gpu, wanted, |canvas, order| {
            (self.0.make)(gpu, canvas, order, choice)
        })?;
        let canvas = gpu.guarded(|| Canvas::shown(gpu, wanted.order.width, wanted.order.height))?;
        let scene = gpu.guarded(|| (self.0.make)(gpu, &canvas, wanted.order, choice))??;
        let (drawing, picture) = Drawing::begun(gpu, &canvas, scene, wanted)?;
        let (width, height, jpeg) = picture.shown();
        context.picture(case, width, height, jpeg);
        let units = drawing.scene.units() * f64::from(drawing.frames());
        let quantity = if self.0.millions {
            Quantity::MegaPerSecond { units }
        } else {
            Quantity::PerSecond { units }
        };
        let mut body = Timed {
            gpu,
            canvas: &canvas,
            drawing,
            failure: None,
        };
        context.measure("rate", case, quantity, &mut body);
        let mut drawing = body.drawing;
        context.rounds(case, |clock, wanted_ns| {
            apart::round(gpu, &canvas, drawing.scene.as_mut(), case, clock, wanted_ns)
        });
        Ok(())
    }
}

/// Draws a batch and judges the picture that it ends with.
struct Timed<'a> {
    gpu: &'a Gpu,
    canvas: &'a Canvas,
    drawing: Drawing,
    failure: Option<Failure>,
}

impl Body for Timed<'_> {
    fn batch(&mut self, operations: u64) -> u64 {
        self.failure = self
            .drawing
            .operation(self.gpu, self.canvas, operations)
            .err();
        operations
    }

    fn verify(&mut self, _operations: u64, _returned: u64) -> Result<u64, Failure> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.drawing.judge(self.gpu, self.canvas)?;
        Ok(self.drawing.scene.amount())
    }
}
