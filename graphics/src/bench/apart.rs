//! A frame's costs apart: the processor's part, the adapter's part, and the time of single frames.

use crate::gpu::{canvas::Canvas, Gpu};
use crate::scene::Scene;
use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{self, Distribution, Failure, Outcome, Reading};
use pentathlon_protocol::catalog::{Direction, Histogram, Metric};
use pentathlon_protocol::Case;

const SUBMIT: Metric = Metric::new(
    "submit",
    "Time of the processor for one frame, until it is given to the driver",
    "us",
    Direction::Lower,
);

const GPU: Metric = Metric::new(
    "gpu",
    "Time of the adapter for one frame, by its own timestamps",
    "us",
    Direction::Lower,
);

const FRAME_MEDIAN: Metric = Metric::new("frame_p50", "Frame time, median", "us", Direction::Lower);

const FRAME_SLOW: Metric = Metric::new(
    "frame_p99",
    "Frame time, 99th percentile",
    "us",
    Direction::Lower,
);

/// Only where frames are shown in a window.
pub const DROPPED: Metric = Metric::new(
    "dropped",
    "Frames that the window did not take",
    "%",
    Direction::Lower,
);

/// What every workload of this area reports beside its own rate.
pub const PARTS: [Metric; 5] = [SUBMIT, GPU, FRAME_MEDIAN, FRAME_SLOW, DROPPED];

/// The parts of a frame's time are no scores of their own: a driver that draws while it is called is
/// no slower for it than one that draws afterwards.
pub const CONTEXT: &[&str] = &[SUBMIT.id, GPU.id];

pub const FRAMES: Histogram = Histogram {
    id: "frame",
    title: "Time of a frame that is drawn alone, from its recording until it is drawn",
    unit: "us",
    direction: Direction::Lower,
    quantiles: &[("frame_p50", 0.5), ("frame_p99", 0.99)],
};

/// Fewest and most frames of one round.
const FRAMES_OF_ROUND: (u32, u32) = (8, 1000);
/// After this time a round ends with fewer: the largest models take seconds a frame by the CPU.
const LONGEST_NS: f64 = 2e9;

/// Draws frames one at a time for about `wanted_ns` and separates their costs.
///
/// # Errors
/// The driver refuses or hangs.
pub fn round(
    gpu: &Gpu,
    canvas: &Canvas,
    scene: &mut dyn Scene,
    case: &Case,
    clock: &Clock,
    wanted_ns: f64,
) -> Result<Vec<Outcome>, Failure> {
    let stamps = gpu.timestamps.then(|| Stamps::new(gpu));
    let mut times = measure::Histogram::default();
    let (mut submit_ns, mut gpu_ns) = (0.0, 0.0);
    let begin = clock.ticks();
    let mut number = 0;
    let refused = canvas.refused();
    let period = scene.period();
    let elapsed_ns = loop {
        let from = clock.ticks();
        if number % period == 0 {
            scene.restart(gpu);
        }
        scene.before(gpu)?;
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        if let Some(stamps) = &stamps {
            stamps.mark(&mut encoder, 0);
        }
        scene.frame(gpu, &mut encoder, canvas);
        if let Some(stamps) = &stamps {
            stamps.mark(&mut encoder, 1);
            stamps.resolve(&mut encoder);
        }
        canvas.submit(gpu, encoder)?;
        let given = clock.ticks();
        gpu.finish()?;
        let drawn = clock.ticks();
        submit_ns += clock.elapsed_ns(from, given);
        times.record((clock.elapsed_ns(from, drawn) / 1e3).round().max(1.0) as u64);
        if let Some(stamps) = &stamps {
            gpu_ns += stamps.read(gpu)?;
        }
        number += 1;
        let elapsed = clock.elapsed_ns(begin, clock.ticks());
        let (least, most) = FRAMES_OF_ROUND;
        let enough = number >= least && elapsed >= wanted_ns;
        if number >= most || enough || elapsed >= LONGEST_NS.max(wanted_ns) {
            break elapsed;
        }
    };
    let frames = f64::from(number);
    let checksum = scene.amount();
    let reading = |metric, value| {
        Outcome::Reading(Reading {
            metric,
            case: case.clone(),
            value,
            operations: u64::from(number),
            elapsed_ns,
            checksum,
        })
    };
    let mut outcomes = vec![reading(SUBMIT.id, submit_ns / frames / 1e3)];
    if gpu_ns > 0.0 {
        outcomes.push(reading(GPU.id, gpu_ns / frames / 1e3));
    }
    if canvas.is_shown() {
        let dropped = f64::from(canvas.refused() - refused) / frames * 100.0;
        outcomes.push(reading(DROPPED.id, dropped));
    }
    outcomes.push(Outcome::Distribution(Distribution {
        of: FRAMES,
        case: case.clone(),
        values: times,
        elapsed_ns,
        checksum,
    }));
    Ok(outcomes)
}

/// Two timestamps of the adapter around a frame.
struct Stamps {
    set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    read: wgpu::Buffer,
    period_ns: f64,
    /// A pass needs a target; this one is never looked at.
    nothing: wgpu::TextureView,
}

impl Stamps {
    fn new(gpu: &Gpu) -> Self {
        let buffer = |usage| {
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: 16,
                usage,
                mapped_at_creation: false,
            })
        };
        let nothing = crate::gpu::canvas::texture(
            gpu,
            1,
            1,
            crate::gpu::canvas::FORMAT,
            wgpu::TextureUsages::RENDER_ATTACHMENT,
        );
        Self {
            set: gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            }),
            resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            read: buffer(wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ),
            period_ns: f64::from(gpu.queue.get_timestamp_period()),
            nothing: nothing.create_view(&Default::default()),
        }
    }

    /// An empty pass that writes the timestamp `number`: stamps between passes are not everywhere.
    fn mark(&self, encoder: &mut wgpu::CommandEncoder, number: u32) {
        drop(encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.nothing,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations::default(),
            })],
            timestamp_writes: Some(wgpu::RenderPassTimestampWrites {
                query_set: &self.set,
                beginning_of_pass_write_index: (number == 0).then_some(0),
                end_of_pass_write_index: (number == 1).then_some(1),
            }),
            ..Default::default()
        }));
    }

    fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.resolve_query_set(&self.set, 0..2, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.read, 0, 16);
    }

    fn read(&self, gpu: &Gpu) -> Result<f64, Failure> {
        self.read.map_async(wgpu::MapMode::Read, .., |_| {});
        gpu.finish()?;
        let stamps: [u64; 2] = {
            let mapped = self
                .read
                .get_mapped_range(..)
                .map_err(|error| Failure::Failed(format!("timestamps cannot be read: {error}")))?;
            bytemuck::pod_read_unaligned(&mapped)
        };
        self.read.unmap();
        Ok(stamps[1].saturating_sub(stamps[0]) as f64 * self.period_ns)
    }
}
