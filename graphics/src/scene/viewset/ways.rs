//! The ways of drawing a model: wireframe, hidden line, shaded, transparent, textured, volume.

use crate::gpu::canvas::Canvas;
use crate::gpu::pipeline::{bind, buffer, pass, sampler, shader, textures, uniform, Depth, Draw};
use crate::gpu::Gpu;
use crate::scene::{eye::eye, Scene, COMMON};
use crate::shape::{Mesh, Vertex};
use glam::{Vec3, Vec4};
use pentathlon_agent::measure::Failure;

/// Side of the volume, in voxels.
const VOLUME: u32 = 48;
const TEXTURE: u32 = 256;

/// One draw of a frame.
struct Step {
    pipeline: wgpu::RenderPipeline,
    group: wgpu::BindGroup,
    /// Lines over the edges instead of triangles.
    edges: bool,
    /// Nothing but the screen.
    screen: bool,
}

struct Drawn {
    steps: Vec<Step>,
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    edges: wgpu::Buffer,
    corners: (u32, u32),
    amount: u64,
    paper: wgpu::Color,
}

pub fn make(gpu: &Gpu, model: &Mesh, way: &str) -> Result<Box<dyn Scene>, Failure> {
    let edges = model.edges();
    let module = shader(gpu, &[COMMON, include_str!("ways.wgsl")]);
    let buffers = [Some(Vertex::LAYOUT)];
    let from = Vec3::new(1.1, 1.0, 2.3);
    let own = Vec4::new(VOLUME as f32, 0.0, 0.0, 0.0);
    let seen = uniform(
        gpu,
        eye(from, Vec3::new(0.0, -0.05, 0.0), 46.0, own, Vec4::ZERO),
    );
    let solid = || Draw::solid(&module, &buffers);
    let lines = |fragment| Draw {
        topology: wgpu::PrimitiveTopology::LineList,
        fragment: Some(fragment),
        ..solid()
    };
    let step = |draw: Draw<'_>, edges: bool| {
        let pipeline = draw.build(gpu);
        let group = bind(gpu, &pipeline, 0, &[(0, seen.as_entire_binding())]);
        Step {
            pipeline,
            group,
            edges,
            screen: false,
        }
    };
    let steps = match way {
        "wireframe" => vec![step(lines("light_line"), true)],
        "hidden-line" => vec![
            step(
                Draw {
                    fragment: Some("paper"),
                    behind: true,
                    ..solid()
                },
                false,
            ),
            step(lines("dark_line"), true),
        ],
        "shaded" => vec![step(
            Draw {
                fragment: Some("shaded"),
                ..solid()
            },
            false,
        )],
        "transparent" => vec![step(
            Draw {
                fragment: Some("glass"),
                blend: Some(wgpu::BlendState::ALPHA_BLENDING),
                depth: Some(Depth::Read),
                ..solid()
            },
            false,
        )],
        "textured" => {
            let pipeline = Draw {
                fragment: Some("textured"),
                ..solid()
            }
            .build(gpu);
            let smooth = sampler(gpu, true, true);
            let picture = picture(gpu);
            let mut resources = vec![(0, seen.as_entire_binding())];
            let own = textures(&smooth, [&picture]);
            resources.extend(
                own.into_iter()
                    .map(|(number, resource)| (number + 1, resource)),
            );
            let group = bind(gpu, &pipeline, 0, &resources);
            vec![Step {
                pipeline,
                group,
                edges: false,
                screen: false,
            }]
        }
        _ => vec![volume(gpu, &module, &seen), step(lines("light_line"), true)],
    };
    Ok(Box::new(Drawn {
        steps,
        vertices: buffer(gpu, &model.vertices, wgpu::BufferUsages::VERTEX),
        indices: buffer(gpu, &model.indices, wgpu::BufferUsages::INDEX),
        edges: buffer(gpu, &edges, wgpu::BufferUsages::INDEX),
        corners: (model.indices.len() as u32, edges.len() as u32),
        amount: model.triangles() as u64,
        paper: match way {
            "hidden-line" => wgpu::Color {
                r: 0.97,
                g: 0.97,
                b: 0.95,
                a: 1.0,
            },
            _ => wgpu::Color {
                r: 0.1,
                g: 0.12,
                b: 0.17,
                a: 1.0,
            },
        },
    }))
}

/// A brushed chequer, with smaller copies for what is far away.
fn picture(gpu: &Gpu) -> wgpu::TextureView {
    let levels = TEXTURE.ilog2() + 1;
    let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d {
            width: TEXTURE,
            height: TEXTURE,
            depth_or_array_layers: 1,
        },
        mip_level_count: levels,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: crate::gpu::canvas::FORMAT,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    let mut texels: Vec<[u32; 3]> = (0..TEXTURE * TEXTURE)
        .map(|at| {
            let (x, y) = (at % TEXTURE, at / TEXTURE);
            let brush = (x * 7 + (y * y) % 61 * 3) % 48;
            if (x / 32 + y / 32) % 2 == 0 {
                [200 + brush, 120 + brush, 60 + brush]
            } else {
                [60 + brush, 90 + brush, 140 + brush]
            }
        })
        .collect();
    let mut side = TEXTURE;
    for level in 0..levels {
        let bytes: Vec<u8> = texels
            .iter()
            .flat_map(|t| {
                [
                    t[0].min(255) as u8,
                    t[1].min(255) as u8,
                    t[2].min(255) as u8,
                    255,
                ]
            })
            .collect();
        gpu.queue.write_texture(
            wgpu::TexelCopyTextureInfo {
                mip_level: level,
                ..texture.as_image_copy()
            },
            &bytes,
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(side * 4),
                rows_per_image: None,
            },
            wgpu::Extent3d {
                width: side,
                height: side,
                depth_or_array_layers: 1,
            },
        );
        if side == 1 {
            break;
        }
        let half = side / 2;
        texels = (0..half * half)
            .map(|at| {
                let (x, y) = (at % half * 2, at / half * 2);
                let of = |dx: u32, dy: u32| texels[((y + dy) * side + x + dx) as usize];
                let four = [of(0, 0), of(1, 0), of(0, 1), of(1, 1)];
                std::array::from_fn(|part| four.iter().map(|t| t[part]).sum::<u32>() / 4)
            })
            .collect();
        side = half;
    }
    texture.create_view(&Default::default())
}

/// Smoke in a cube, gathered along the line of sight.
fn volume(gpu: &Gpu, module: &wgpu::ShaderModule, seen: &wgpu::Buffer) -> Step {
    let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d {
            width: VOLUME,
            height: VOLUME,
            depth_or_array_layers: VOLUME,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D3,
        format: wgpu::TextureFormat::R8Unorm,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    let centres: [(f32, f32, f32, f32); 4] = [
        (0.4, 0.5, 0.5, 0.3),
        (0.65, 0.55, 0.45, 0.22),
        (0.5, 0.75, 0.6, 0.2),
        (0.55, 0.3, 0.4, 0.18),
    ];
    let mut data = Vec::with_capacity((VOLUME * VOLUME * VOLUME) as usize);
    for z in 0..VOLUME {
        for y in 0..VOLUME {
            for x in 0..VOLUME {
                let at = [x, y, z].map(|part| (part as f32 + 0.5) / VOLUME as f32);
                let thick: f32 = centres
                    .iter()
                    .map(|(a, b, c, size)| {
                        let away = (at[0] - a).powi(2) + (at[1] - b).powi(2) + (at[2] - c).powi(2);
                        (1.0 - away / (size * size)).max(0.0)
                    })
                    .sum();
                data.push((thick.min(1.0) * 255.0) as u8);
            }
        }
    }
    gpu.queue.write_texture(
        texture.as_image_copy(),
        &data,
        wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(VOLUME),
            rows_per_image: Some(VOLUME),
        },
        texture.size(),
    );
    let pipeline = Draw {
        depth: Some(Depth::Read),
        ..Draw::screen(module, "volume")
    }
    .build(gpu);
    let smooth = sampler(gpu, false, true);
    let view = texture.create_view(&Default::default());
    let group = bind(
        gpu,
        &pipeline,
        0,
        &[
            (0, seen.as_entire_binding()),
            (1, wgpu::BindingResource::Sampler(&smooth)),
            (3, wgpu::BindingResource::TextureView(&view)),
        ],
    );
    Step {
        pipeline,
        group,
        edges: false,
        screen: true,
    }
}

impl Scene for Drawn {
    fn frame(&mut self, _gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, canvas: &Canvas) {
        let mut pass = pass(
            encoder,
            Some(&canvas.view),
            Some(&canvas.depth),
            Some(self.paper),
        );
        pass.set_vertex_buffer(0, self.vertices.slice(..));
        for step in &self.steps {
            pass.set_pipeline(&step.pipeline);
            pass.set_bind_group(0, &step.group, &[]);
            if step.screen {
                pass.draw(0..3, 0..1);
                continue;
            }
            let (indices, count) = if step.edges {
                (&self.edges, self.corners.1)
            } else {
                (&self.indices, self.corners.0)
            };
            pass.set_index_buffer(indices.slice(..), wgpu::IndexFormat::Uint32);
            pass.draw_indexed(0..count, 0, 0..1);
        }
    }

    fn amount(&self) -> u64 {
        self.amount
    }
}
