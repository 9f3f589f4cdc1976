//! Four places of a game, from one set of parts: shadow map, lit geometry, and for two of them a
//! high dynamic range with bloom and tone mapping (3DMark06 graphics tests).

mod places;

use super::{eye, Entry, Order, Scene, COMMON};
use crate::gpu::canvas::{depth, texture, Canvas, FORMAT};
use crate::gpu::pipeline::{bind, buffer, pass, sampler, shader, textures, uniform, Draw};
use crate::gpu::Gpu;
use crate::shape::Vertex;
use glam::{Mat4, Vec4};
use pentathlon_harness::measure::Failure;

pub const ENTRY: Entry = Entry {
    id: "graphics.game",
    title: "Game scenes",
    summary: "Hall and forest are shaded with a shadow map; canyon and ice have besides a high \
              dynamic range, bloom and tone mapping.",
    source: "martinovic2012 §4.2, Tab. 7 (3DMark06 graphics tests: two of shader model 2, two HDR)",
    factor: ("scene", &["hall", "forest", "canyon", "ice"]),
    metric: "Frames drawn",
    unit: "frames/s",
    millions: false,
    make,
};

const SHADOW: u32 = 1024;
const HDR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;

/// A shape with one look, drawn many times.
struct Part {
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    count: u32,
    instances: wgpu::Buffer,
    copies: u32,
}

struct Game {
    parts: Vec<Part>,
    shadow: wgpu::TextureView,
    cast: (wgpu::RenderPipeline, wgpu::BindGroup),
    sky: (wgpu::RenderPipeline, wgpu::BindGroup),
    draw: (wgpu::RenderPipeline, wgpu::BindGroup),
    high: Option<High>,
    triangles: u64,
}

/// The passes after the picture of high dynamic range.
struct High {
    picture: wgpu::TextureView,
    halves: [wgpu::TextureView; 2],
    bright: (wgpu::RenderPipeline, wgpu::BindGroup),
    blur: [(wgpu::RenderPipeline, wgpu::BindGroup); 2],
    tone: (wgpu::RenderPipeline, wgpu::BindGroup),
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct World {
    light: Mat4,
    towards_light: Vec4,
    light_color: Vec4,
    sky_color: Vec4,
    fog: Vec4,
}

const INSTANCE: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
    array_stride: 32,
    step_mode: wgpu::VertexStepMode::Instance,
    attributes: &wgpu::vertex_attr_array![3 => Float32x4, 4 => Float32x4],
};

fn make(gpu: &Gpu, canvas: &Canvas, order: Order, choice: &str) -> Result<Box<dyn Scene>, Failure> {
    let place = places::place(choice, order);
    let module = shader(gpu, &[COMMON, include_str!("game.wgsl")]);
    let buffers = [Some(Vertex::LAYOUT), Some(INSTANCE)];
    let world = uniform(
        gpu,
        World {
            light: eye::light(place.light.normalize() * 6.0),
            towards_light: place.light.normalize().extend(0.0),
            light_color: place.light_color.extend(1.0),
            sky_color: place.sky.extend(1.0),
            fog: place.fog.extend(place.thickness),
        },
    );
    let own = Vec4::new(
        order.seed as f32 % 83.0,
        if place.high { 1.0 } else { 0.0 },
        place.water,
        0.0,
    );
    let seen = uniform(gpu, eye::eye(place.from, place.to, 50.0, own, Vec4::ZERO));
    let shadow = depth(gpu, SHADOW, SHADOW).create_view(&Default::default());
    let format = if place.high { HDR } else { FORMAT };
    let cast = Draw {
        vertex: "cast_shadow",
        fragment: None,
        behind: true,
        ..Draw::solid(&module, &buffers)
    }
    .build(gpu);
    let sky = Draw {
        format,
        ..Draw::screen(&module, "sky")
    }
    .build(gpu);
    let draw = Draw {
        format,
        ..Draw::solid(&module, &buffers)
    }
    .build(gpu);
    let compare = gpu.device.create_sampler(&wgpu::SamplerDescriptor {
        compare: Some(wgpu::CompareFunction::LessEqual),
        mag_filter: wgpu::FilterMode::Linear,
        min_filter: wgpu::FilterMode::Linear,
        ..Default::default()
    });
    let parts: Vec<Part> = place
        .parts
        .iter()
        .map(|(mesh, copies)| Part {
            vertices: buffer(gpu, &mesh.vertices, wgpu::BufferUsages::VERTEX),
            indices: buffer(gpu, &mesh.indices, wgpu::BufferUsages::INDEX),
            count: mesh.indices.len() as u32,
            instances: buffer(gpu, copies, wgpu::BufferUsages::VERTEX),
            copies: copies.len() as u32,
        })
        .collect();
    let triangles = parts
        .iter()
        .map(|part| u64::from(part.count / 3 * part.copies))
        .sum();
    let eye_and_world = [
        (0, seen.as_entire_binding()),
        (1, world.as_entire_binding()),
    ];
    Ok(Box::new(Game {
        parts,
        triangles,
        cast: {
            let group = bind(gpu, &cast, 0, &eye_and_world[1..]);
            (cast, group)
        },
        sky: {
            let group = bind(gpu, &sky, 0, &eye_and_world);
            (sky, group)
        },
        draw: {
            let of_light = [
                (2, wgpu::BindingResource::TextureView(&shadow)),
                (3, wgpu::BindingResource::Sampler(&compare)),
            ];
            let group = bind(
                gpu,
                &draw,
                0,
                &[eye_and_world.as_slice(), &of_light].concat(),
            );
            (draw, group)
        },
        shadow,
        high: place.high.then(|| High::new(gpu, canvas)),
    }))
}

impl High {
    fn new(gpu: &Gpu, canvas: &Canvas) -> Self {
        let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING;
        let target = |divisor: u32| {
            let (width, height) = (
                (canvas.width / divisor).max(1),
                (canvas.height / divisor).max(1),
            );
            texture(gpu, width, height, HDR, usage).create_view(&Default::default())
        };
        let picture = target(1);
        let halves = [target(4), target(4)];
        let module = shader(gpu, &[COMMON, include_str!("tone.wgsl")]);
        let smooth = sampler(gpu, false, true);
        let screen = |entry, format, sources: &[&wgpu::TextureView]| {
            let pipeline = Draw {
                format,
                ..Draw::screen(&module, entry)
            }
            .build(gpu);
            let group = bind(
                gpu,
                &pipeline,
                0,
                &textures(&smooth, sources.iter().copied()),
            );
            (pipeline, group)
        };
        Self {
            bright: screen("bright", HDR, &[&picture]),
            blur: [
                screen("across", HDR, &[&halves[0]]),
                screen("down", HDR, &[&halves[1]]),
            ],
            tone: screen("tone", FORMAT, &[&picture, &halves[0]]),
            picture,
            halves,
        }
    }

    fn finish(&self, encoder: &mut wgpu::CommandEncoder, canvas: &Canvas) {
        let [first, second] = &self.halves;
        let steps = [
            (&self.bright, first),
            (&self.blur[0], second),
            (&self.blur[1], first),
            (&self.tone, &canvas.view),
        ];
        for ((pipeline, group), target) in steps {
            let mut pass = pass(encoder, Some(target), None, Some(wgpu::Color::BLACK));
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, group, &[]);
            pass.draw(0..3, 0..1);
        }
    }
}

impl Game {
    fn draw_parts(&self, pass: &mut wgpu::RenderPass<'_>) {
        for part in &self.parts {
            pass.set_vertex_buffer(0, part.vertices.slice(..));
            pass.set_vertex_buffer(1, part.instances.slice(..));
            pass.set_index_buffer(part.indices.slice(..), wgpu::IndexFormat::Uint32);
            pass.draw_indexed(0..part.count, 0, 0..part.copies);
        }
    }
}

impl Scene for Game {
    fn frame(&mut self, _gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, canvas: &Canvas) {
        {
            let mut pass = pass(encoder, None, Some(&self.shadow), Some(wgpu::Color::BLACK));
            pass.set_pipeline(&self.cast.0);
            pass.set_bind_group(0, &self.cast.1, &[]);
            self.draw_parts(&mut pass);
        }
        let target = self
            .high
            .as_ref()
            .map_or(&canvas.view, |high| &high.picture);
        {
            let mut pass = pass(encoder, Some(target), None, Some(wgpu::Color::BLACK));
            pass.set_pipeline(&self.sky.0);
            pass.set_bind_group(0, &self.sky.1, &[]);
            pass.draw(0..3, 0..1);
        }
        {
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view: target,
                    depth_slice: None,
                    resolve_target: None,
                    ops: wgpu::Operations {
                        load: wgpu::LoadOp::Load,
                        store: wgpu::StoreOp::Store,
                    },
                })],
                depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                    view: &canvas.depth,
                    depth_ops: Some(wgpu::Operations {
                        load: wgpu::LoadOp::Clear(1.0),
                        store: wgpu::StoreOp::Store,
                    }),
                    stencil_ops: None,
                }),
                ..Default::default()
            });
            pass.set_pipeline(&self.draw.0);
            pass.set_bind_group(0, &self.draw.1, &[]);
            self.draw_parts(&mut pass);
        }
        if let Some(high) = &self.high {
            high.finish(encoder, canvas);
        }
    }

    fn amount(&self) -> u64 {
        self.triangles
    }
}
