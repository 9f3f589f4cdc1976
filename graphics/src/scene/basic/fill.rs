//! Texels read and blended: the same layers over the whole canvas, again and again.

use crate::gpu::canvas::{send, texture, Canvas, FORMAT};
use crate::gpu::pipeline::{bind, pass, sampler, shader, textures, Draw};
use crate::gpu::Gpu;
use crate::scene::{Order, Scene, COMMON};
use crate::shape::Random;
use pentathlon_harness::measure::Failure;

/// Layers of one frame at scale 1.
const LAYERS: f64 = 8.0;
const SIDE: u32 = 256;
const TEXTURES: u32 = 8;

struct Fill {
    pipeline: wgpu::RenderPipeline,
    group: wgpu::BindGroup,
    layers: u32,
    textures: u32,
    pixels: f64,
}

pub fn make(
    gpu: &Gpu,
    canvas: &Canvas,
    order: Order,
    choice: &str,
) -> Result<Box<dyn Scene>, Failure> {
    let multi = choice == "multi";
    let module = shader(gpu, &[COMMON, include_str!("fill.wgsl")]);
    let pipeline = Draw {
        blend: Some(wgpu::BlendState::ALPHA_BLENDING),
        ..Draw::screen(&module, if multi { "multi" } else { "single" })
    }
    .build(gpu);
    let count = if multi { TEXTURES } else { 1 };
    let views: Vec<_> = (0..count)
        .map(|number| pattern(gpu, order.seed, number))
        .collect();
    let smooth = sampler(gpu, true, true);
    Ok(Box::new(Fill {
        group: bind(gpu, &pipeline, 0, &textures(&smooth, &views)),
        pipeline,
        layers: (LAYERS * order.scale).round().max(1.0) as u32,
        textures: count,
        pixels: canvas.pixels(),
    }))
}

/// Tiles of random colours, soft enough to be read with interpolation.
fn pattern(gpu: &Gpu, seed: u64, number: u32) -> wgpu::TextureView {
    let mut random = Random::new(seed ^ (u64::from(number) << 32));
    let tiles: Vec<[f32; 3]> = (0..64)
        .map(|_| [random.unit(), random.unit(), random.unit()])
        .collect();
    let mut data = Vec::with_capacity((SIDE * SIDE * 4) as usize);
    for y in 0..SIDE {
        for x in 0..SIDE {
            let tile = tiles[(y / 32 * 8 + x / 32) as usize];
            let shade = 0.7 + 0.3 * (((x ^ y) & 31) as f32 / 31.0);
            data.extend(tile.map(|part| (part * shade * 255.0) as u8));
            data.push(255);
        }
    }
    let usage = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST;
    let made = texture(gpu, SIDE, SIDE, FORMAT, usage);
    send(gpu, &made, &data, SIDE * 4);
    made.create_view(&Default::default())
}

impl Scene for Fill {
    fn frame(&mut self, _gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, canvas: &Canvas) {
        let mut pass = pass(encoder, Some(&canvas.view), None, Some(wgpu::Color::BLACK));
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        // One draw a layer: layers of one draw might be put into one by a clever driver.
        for _ in 0..self.layers {
            pass.draw(0..3, 0..1);
        }
    }

    fn units(&self) -> f64 {
        self.pixels * f64::from(self.layers * self.textures)
    }

    fn amount(&self) -> u64 {
        self.units() as u64
    }
}
