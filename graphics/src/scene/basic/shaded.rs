//! Pixels that compute: no geometry, no textures, a shader over the whole canvas.

use crate::gpu::canvas::Canvas;
use crate::gpu::pipeline::{bind, pass, shader, uniform, Draw};
use crate::gpu::Gpu;
use crate::scene::{Order, Scene, COMMON};
use glam::Vec4;
use pentathlon_harness::measure::Failure;

struct Shaded {
    pipeline: wgpu::RenderPipeline,
    group: wgpu::BindGroup,
    repeats: u32,
}

pub fn pixel_shader(
    gpu: &Gpu,
    _: &Canvas,
    order: Order,
    _: &str,
) -> Result<Box<dyn Scene>, Failure> {
    Ok(made(gpu, order, "rock"))
}

pub fn noise(gpu: &Gpu, _: &Canvas, order: Order, _: &str) -> Result<Box<dyn Scene>, Failure> {
    Ok(made(gpu, order, "clouds"))
}

fn made(gpu: &Gpu, order: Order, entry: &str) -> Box<dyn Scene> {
    let module = shader(gpu, &[COMMON, include_str!("shaded.wgsl")]);
    let pipeline = Draw::screen(&module, entry).build(gpu);
    let own = uniform(gpu, Vec4::new((order.seed % 97) as f32, 0.0, 0.0, 0.0));
    Box::new(Shaded {
        group: bind(gpu, &pipeline, 0, &[(0, own.as_entire_binding())]),
        pipeline,
        repeats: order.scale.round().max(1.0) as u32,
    })
}

impl Scene for Shaded {
    fn frame(&mut self, _gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, canvas: &Canvas) {
        let mut pass = pass(encoder, Some(&canvas.view), None, Some(wgpu::Color::BLACK));
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        for _ in 0..self.repeats {
            pass.draw(0..3, 0..1);
        }
    }

    fn amount(&self) -> u64 {
        u64::from(self.repeats)
    }
}
