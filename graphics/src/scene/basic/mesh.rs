//! Corners and triangles: one mesh, drawn with more or less work at each corner.

use crate::gpu::canvas::Canvas;
use crate::gpu::pipeline::{bind, color, geometry, pass, shader, uniform, Draw};
use crate::gpu::Gpu;
use crate::scene::{eye::eye, Order, Scene, COMMON};
use crate::shape::{self, Mesh, Vertex};
use glam::{Vec3, Vec4};
use pentathlon_harness::measure::Failure;

/// Triangles of the meshes at scale 1.
const TRIANGLES: f64 = 60_000.0;

struct Drawn {
    pipeline: wgpu::RenderPipeline,
    group: wgpu::BindGroup,
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    count: u32,
    units: f64,
}

pub fn polygons(
    gpu: &Gpu,
    _: &Canvas,
    order: Order,
    choice: &str,
) -> Result<Box<dyn Scene>, Failure> {
    let mesh = shape::knot(TRIANGLES * order.scale, 2.0, 5.0, 0.26);
    let units = mesh.triangles() as f64;
    let lights = if choice == "eight" { 8.0 } else { 1.0 };
    Ok(Box::new(drawn(gpu, &mesh, "polygons", 3.4, lights, units)?))
}

pub fn vertices(
    gpu: &Gpu,
    _: &Canvas,
    order: Order,
    choice: &str,
) -> Result<Box<dyn Scene>, Failure> {
    let mesh = shape::knot(TRIANGLES * order.scale, 3.0, 7.0, 0.12);
    let units = mesh.vertices.len() as f64;
    // Far away: a few pixels for many corners.
    Ok(Box::new(drawn(gpu, &mesh, choice, 9.0, 1.0, units)?))
}

fn drawn(
    gpu: &Gpu,
    mesh: &Mesh,
    entry: &str,
    far: f32,
    lights: f32,
    units: f64,
) -> Result<Drawn, Failure> {
    let module = shader(gpu, &[COMMON, include_str!("mesh.wgsl")]);
    let buffers = [Some(Vertex::LAYOUT)];
    let pipeline = Draw {
        vertex: entry,
        ..Draw::solid(&module, &buffers)
    }
    .build(gpu);
    let from = Vec3::new(0.25, 0.35, 1.0).normalize() * far;
    let own = Vec4::new(lights, 0.0, 0.0, 0.0);
    let eye = uniform(gpu, eye(from, Vec3::ZERO, 45.0, own, Vec4::ZERO));
    Ok(Drawn {
        group: bind(gpu, &pipeline, 0, &[(0, eye.as_entire_binding())]),
        pipeline,
        vertices: geometry(gpu, &mesh.vertices, wgpu::BufferUsages::VERTEX)?,
        indices: geometry(gpu, &mesh.indices, wgpu::BufferUsages::INDEX)?,
        count: mesh.indices.len() as u32,
        units,
    })
}

impl Scene for Drawn {
    fn frame(&mut self, _gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, canvas: &Canvas) {
        let night = color(0.02, 0.03, 0.06);
        let mut pass = pass(
            encoder,
            Some(&canvas.view),
            Some(&canvas.depth),
            Some(night),
        );
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.set_vertex_buffer(0, self.vertices.slice(..));
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..self.count, 0, 0..1);
    }

    fn units(&self) -> f64 {
        self.units
    }

    fn amount(&self) -> u64 {
        self.units as u64
    }
}
