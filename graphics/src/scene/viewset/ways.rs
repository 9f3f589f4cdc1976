//! The ways of drawing a model: wireframe, hidden line, shaded, transparent, textured, volume.

use super::picture::picture;
use super::volume::{self, Volume};
use crate::gpu::canvas::Canvas;
use crate::gpu::pipeline::{
    bind, color, geometry, pass, sampler, shader, textures, uniform, Depth, Draw,
};
use crate::gpu::Gpu;
use crate::scene::{eye::eye, Scene, COMMON};
use crate::shape::{Mesh, Vertex};
use glam::{Vec3, Vec4};
use pentathlon_harness::measure::Failure;

/// One draw of a frame.
struct Step {
    pipeline: wgpu::RenderPipeline,
    group: wgpu::BindGroup,
    /// Lines over the edges instead of triangles.
    edges: bool,
    /// Nothing but the screen.
    screen: bool,
}

/// A model in the adapter's memory, which all ways of drawing it share.
pub struct Sent {
    geometry: Geometry,
    seen: wgpu::Buffer,
    volume: wgpu::TextureView,
    module: wgpu::ShaderModule,
}

#[derive(Clone)]
struct Geometry {
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    edges: wgpu::Buffer,
    corners: (u32, u32),
    triangles: u64,
}

struct Drawn {
    steps: Vec<Step>,
    geometry: Geometry,
    paper: wgpu::Color,
}

impl Sent {
    /// Sends a model and its volume; the eye is `away` times as far as is usual.
    ///
    /// # Errors
    /// It is too large for the adapter (`unsupported`).
    pub fn new(gpu: &Gpu, model: &Mesh, volume: &Volume, away: f32) -> Result<Self, Failure> {
        let edges = model.edges();
        let own = Vec4::new(volume::SIDE as f32, volume.half, 0.0, 0.0);
        let (from, to) = (Vec3::new(1.1, 1.0, 2.3) * away, Vec3::new(0.0, -0.05, 0.0));
        Ok(Self {
            geometry: Geometry {
                vertices: geometry(gpu, &model.vertices, wgpu::BufferUsages::VERTEX)?,
                indices: geometry(gpu, &model.indices, wgpu::BufferUsages::INDEX)?,
                edges: geometry(gpu, &edges, wgpu::BufferUsages::INDEX)?,
                corners: (model.indices.len() as u32, edges.len() as u32),
                triangles: model.triangles() as u64,
            },
            seen: uniform(gpu, eye(from, to, 46.0, own, Vec4::ZERO)),
            volume: volume.send(gpu),
            module: shader(gpu, &[COMMON, include_str!("ways.wgsl")]),
        })
    }

    /// The scene that draws it in this way.
    pub fn scene(&self, gpu: &Gpu, way: &str) -> Box<dyn Scene> {
        Box::new(Drawn {
            steps: self.steps(gpu, way),
            geometry: self.geometry.clone(),
            paper: match way {
                "hidden-line" => color(0.97, 0.97, 0.95),
                _ => color(0.1, 0.12, 0.17),
            },
        })
    }

    fn steps(&self, gpu: &Gpu, way: &str) -> Vec<Step> {
        let buffers = [Some(Vertex::LAYOUT)];
        let with = |fragment| Draw {
            fragment: Some(fragment),
            ..Draw::solid(&self.module, &buffers)
        };
        let lines = |fragment| {
            let draw = Draw {
                topology: wgpu::PrimitiveTopology::LineList,
                ..with(fragment)
            };
            Step {
                edges: true,
                ..self.step(gpu, &draw, Vec::new())
            }
        };
        match way {
            "wireframe" => vec![lines("light_line")],
            "hidden-line" => {
                let behind = Draw {
                    behind: true,
                    ..with("paper")
                };
                vec![self.step(gpu, &behind, Vec::new()), lines("dark_line")]
            }
            "shaded" => vec![self.step(gpu, &with("shaded"), Vec::new())],
            "transparent" => {
                let glass = Draw {
                    blend: Some(wgpu::BlendState::ALPHA_BLENDING),
                    depth: Some(Depth::Read),
                    ..with("glass")
                };
                vec![self.step(gpu, &glass, Vec::new())]
            }
            "textured" => {
                let (smooth, picture) = (sampler(gpu, true, true), picture(gpu));
                let own = textures(&smooth, [&picture])
                    .into_iter()
                    .map(|(number, resource)| (number + 1, resource));
                vec![self.step(gpu, &with("textured"), own.collect())]
            }
            _ => vec![self.gathered(gpu), lines("light_line")],
        }
    }

    /// One draw of the model, with these resources beside the eye.
    fn step(&self, gpu: &Gpu, draw: &Draw<'_>, own: Vec<(u32, wgpu::BindingResource<'_>)>) -> Step {
        let pipeline = draw.build(gpu);
        let mut resources = vec![(0, self.seen.as_entire_binding())];
        resources.extend(own);
        Step {
            group: bind(gpu, &pipeline, 0, &resources),
            pipeline,
            edges: false,
            screen: false,
        }
    }

    /// The volume, gathered along the line of sight.
    fn gathered(&self, gpu: &Gpu) -> Step {
        let draw = Draw {
            depth: Some(Depth::Read),
            ..Draw::screen(&self.module, "volume")
        };
        let smooth = sampler(gpu, false, true);
        let own = vec![
            (1, wgpu::BindingResource::Sampler(&smooth)),
            (3, wgpu::BindingResource::TextureView(&self.volume)),
        ];
        Step {
            screen: true,
            ..self.step(gpu, &draw, own)
        }
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
        pass.set_vertex_buffer(0, self.geometry.vertices.slice(..));
        for step in &self.steps {
            pass.set_pipeline(&step.pipeline);
            pass.set_bind_group(0, &step.group, &[]);
            if step.screen {
                pass.draw(0..3, 0..1);
                continue;
            }
            let (indices, count) = if step.edges {
                (&self.geometry.edges, self.geometry.corners.1)
            } else {
                (&self.geometry.indices, self.geometry.corners.0)
            };
            pass.set_index_buffer(indices.slice(..), wgpu::IndexFormat::Uint32);
            pass.draw_indexed(0..count, 0, 0..1);
        }
    }

    fn lines(&self) -> bool {
        self.steps.iter().any(|step| step.edges)
    }

    fn amount(&self) -> u64 {
        self.geometry.triangles
    }
}
