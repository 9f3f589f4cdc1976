//! Particles whose places live in textures: one pass moves them, the next reads their places in the
//! vertex shader (3DMark06 shader particles, which need shader model 3).

use super::{eye::eye, Entry, Order, Scene, COMMON};
use crate::gpu::canvas::{texture, Canvas};
use crate::gpu::pipeline::{bind, color, pass, shader, uniform, Depth, Draw};
use crate::gpu::Gpu;
use glam::{Vec3, Vec4};
use pentathlon_harness::measure::Failure;

pub const ENTRY: Entry = Entry {
    id: "graphics.particles",
    title: "Shader particles",
    summary:
        "Particles fall on a sphere and bounce; their places and speeds are kept in textures, \
              moved by a fragment shader and read by a vertex shader.",
    source: "martinovic2012 §4.2, Tab. 7 (3DMark06 shader particles, SM3.0)",
    factor: ("shader", &["bounce"]),
    metric: "Frames drawn",
    unit: "frames/s",
    millions: false,
    make,
};

/// Particles at scale 1: a square of this side.
const SIDE: f64 = 128.0;
/// Frames of one run, always from the same start.
const PERIOD: u32 = 16;
const STATE: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;

struct Particles {
    start: wgpu::RenderPipeline,
    step: wgpu::RenderPipeline,
    draw: wgpu::RenderPipeline,
    seed: wgpu::BindGroup,
    /// For each half: its places and speeds as targets, how to move from it, how to draw it.
    halves: [Half; 2],
    side: u32,
    number: u32,
}

struct Half {
    targets: [wgpu::TextureView; 2],
    moving: wgpu::BindGroup,
    drawing: wgpu::BindGroup,
}

fn make(gpu: &Gpu, _: &Canvas, order: Order, _: &str) -> Result<Box<dyn Scene>, Failure> {
    let side = (SIDE * order.scale.sqrt()).round().max(8.0) as u32;
    let module = shader(gpu, &[COMMON, include_str!("particles.wgsl")]);
    let start = moving_pipeline(gpu, &module, "start");
    let step = moving_pipeline(gpu, &module, "step");
    let draw = Draw {
        vertex: "particle",
        fragment: Some("glow"),
        blend: Some(wgpu::BlendState {
            color: wgpu::BlendComponent {
                src_factor: wgpu::BlendFactor::One,
                dst_factor: wgpu::BlendFactor::One,
                operation: wgpu::BlendOperation::Add,
            },
            alpha: wgpu::BlendComponent::REPLACE,
        }),
        depth: Some(Depth::Read),
        ..Draw::solid(&module, &[])
    }
    .build(gpu);
    let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING;
    // Brightness by particle, so that more of them give the same picture.
    let own = Vec4::new(
        side as f32,
        (SIDE * SIDE) as f32 / (side * side) as f32,
        (order.seed % 1009) as f32,
        0.0,
    );
    let seen = uniform(
        gpu,
        eye(
            Vec3::new(0.0, 0.9, 3.2),
            Vec3::new(0.0, 0.1, 0.0),
            45.0,
            own,
            Vec4::ZERO,
        ),
    );
    let halves = [(); 2].map(|()| {
        let targets = [(); 2]
            .map(|()| texture(gpu, side, side, STATE, usage).create_view(&Default::default()));
        let [places, speeds] = targets.each_ref().map(wgpu::BindingResource::TextureView);
        let state = [(1, places), (2, speeds)];
        let all = [&[(0, seen.as_entire_binding())], state.as_slice()].concat();
        Half {
            moving: bind(gpu, &step, 0, &state),
            drawing: bind(gpu, &draw, 0, &all),
            targets,
        }
    });
    Ok(Box::new(Particles {
        seed: bind(gpu, &start, 0, &[(0, seen.as_entire_binding())]),
        start,
        step,
        draw,
        halves,
        side,
        number: 0,
    }))
}

/// Both textures of a state are written at once.
fn moving_pipeline(gpu: &Gpu, module: &wgpu::ShaderModule, entry: &str) -> wgpu::RenderPipeline {
    let target = Some(wgpu::ColorTargetState {
        format: STATE,
        blend: None,
        write_mask: wgpu::ColorWrites::ALL,
    });
    gpu.device
        .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: None,
            vertex: wgpu::VertexState {
                module,
                entry_point: Some("screen"),
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: Default::default(),
            depth_stencil: None,
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module,
                entry_point: Some(entry),
                compilation_options: Default::default(),
                targets: &[target.clone(), target],
            }),
            multiview_mask: None,
            cache: None,
        })
}

impl Particles {
    fn write(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        to: usize,
        pipeline: &wgpu::RenderPipeline,
        group: &wgpu::BindGroup,
    ) {
        let attachments = self.halves[to].targets.each_ref().map(|view| {
            Some(wgpu::RenderPassColorAttachment {
                view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations::default(),
            })
        });
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &attachments,
            ..Default::default()
        });
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, group, &[]);
        pass.draw(0..3, 0..1);
    }
}

impl Scene for Particles {
    fn restart(&mut self, _gpu: &Gpu) {
        self.number = 0;
    }

    fn frame(&mut self, _gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, canvas: &Canvas) {
        let within = self.number % PERIOD;
        let to = (within % 2) as usize;
        if within == 0 {
            self.write(encoder, to, &self.start, &self.seed);
        } else {
            self.write(encoder, to, &self.step, &self.halves[1 - to].moving);
        }
        self.number += 1;
        let night = color(0.01, 0.01, 0.03);
        let mut pass = pass(
            encoder,
            Some(&canvas.view),
            Some(&canvas.depth),
            Some(night),
        );
        pass.set_pipeline(&self.draw);
        pass.set_bind_group(0, &self.halves[to].drawing, &[]);
        pass.draw(0..6, 0..self.side * self.side);
    }

    fn period(&self) -> u32 {
        PERIOD
    }

    fn amount(&self) -> u64 {
        u64::from(self.side * self.side)
    }
}
