//! Translucent windows put together without a window system: each gets a picture of its own, is
//! blended over what lies below it, and goes.

use super::{Entry, Order, Scene, COMMON};
use crate::gpu::canvas::{send, texture, Canvas, FORMAT};
use crate::gpu::pipeline::{bind, color, pass, sampler, shader, textures, uniform, Draw};
use crate::gpu::Gpu;
use crate::shape::Random;
use glam::Vec4;
use pentathlon_harness::measure::Failure;

pub const ENTRY: Entry = Entry {
    id: "graphics.composition",
    title: "Transparent windows, composed",
    summary: "Translucent windows are made, filled by the processor, blended over each other and \
              given back, without a window system.",
    source: "martinovic2012 §4.1, Tab. 7, Tab. 14 (PCMark05 transparent windows)",
    factor: ("windows", &["32"]),
    metric: "Windows composed",
    unit: "windows/s",
    millions: false,
    make,
};

const SIDE: u32 = 128;

struct Composition {
    pipeline: wgpu::RenderPipeline,
    smooth: wgpu::Sampler,
    /// Place and size of each window, and what it shows.
    windows: Vec<(Vec4, Vec<u8>)>,
}

fn make(gpu: &Gpu, _: &Canvas, order: Order, choice: &str) -> Result<Box<dyn Scene>, Failure> {
    let count = choice.parse::<u32>().expect("a choice of the catalog");
    let module = shader(gpu, &[COMMON, include_str!("composition.wgsl")]);
    let pipeline = Draw {
        vertex: "window",
        blend: Some(wgpu::BlendState::ALPHA_BLENDING),
        ..Draw::screen(&module, "translucent")
    }
    .build(gpu);
    let mut random = Random::new(order.seed);
    let windows = (0..count)
        .map(|_| {
            let mut unit = || random.unit();
            let place = Vec4::new(
                unit() * 1.5 - 1.0,
                unit() * 1.5 - 1.0,
                0.3 + 0.3 * unit(),
                0.3 + 0.3 * unit(),
            );
            let color = [unit(), unit(), unit()].map(|part| (part * 255.0) as u8);
            (place, face(color))
        })
        .collect();
    Ok(Box::new(Composition {
        pipeline,
        smooth: sampler(gpu, false, true),
        windows,
    }))
}

/// A window: an opaque title bar above a translucent face with lines of writing.
fn face(color: [u8; 3]) -> Vec<u8> {
    let mut data = Vec::with_capacity((SIDE * SIDE * 4) as usize);
    for y in 0..SIDE {
        for x in 0..SIDE {
            let writing = y % 12 < 4 && x > 10 && x < 110 && y > 20;
            data.extend(match (y < 14, writing) {
                (true, _) => [color[0], color[1], color[2], 255],
                (_, true) => [20, 20, 30, 220],
                _ => [
                    color[0] / 2 + 127,
                    color[1] / 2 + 127,
                    color[2] / 2 + 127,
                    140,
                ],
            });
        }
    }
    data
}

impl Scene for Composition {
    fn frame(&mut self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, canvas: &Canvas) {
        let usage = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST;
        let groups: Vec<wgpu::BindGroup> = self
            .windows
            .iter()
            .map(|(place, data)| {
                let shown = texture(gpu, SIDE, SIDE, FORMAT, usage);
                send(gpu, &shown, data, SIDE * 4);
                let view = shown.create_view(&Default::default());
                let place = uniform(gpu, *place);
                let mut resources = textures(&self.smooth, [&view]);
                resources.push((2, place.as_entire_binding()));
                bind(gpu, &self.pipeline, 0, &resources)
            })
            .collect();
        let desk = color(0.16, 0.3, 0.42);
        let mut pass = pass(encoder, Some(&canvas.view), None, Some(desk));
        pass.set_pipeline(&self.pipeline);
        for group in &groups {
            pass.set_bind_group(0, group, &[]);
            pass.draw(0..6, 0..1);
        }
    }

    fn units(&self) -> f64 {
        self.windows.len() as f64
    }

    fn amount(&self) -> u64 {
        self.windows.len() as u64
    }
}
