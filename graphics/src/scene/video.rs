//! A clip that is decoded by the processor, sent, and turned into colours by the adapter.

mod clip;

use super::{Entry, Order, Scene, COMMON};
use crate::gpu::canvas::{send, texture, Canvas};
use crate::gpu::pipeline::{bind, pass, sampler, shader, textures, Draw};
use crate::gpu::Gpu;
use clip::Clip;
use openh264::decoder::Decoder;
use openh264::formats::YUVSource;
use pentathlon_harness::measure::Failure;

pub const ENTRY: Entry = Entry {
    id: "graphics.video",
    title: "Video playback",
    summary: "An H.264 clip of 1280x720 pixels that the program makes itself is decoded by the \
              processor; its planes are sent and turned into colours on the canvas.",
    source: "martinovic2012 §4.1, Tab. 7, Tab. 14 (PCMark05 WMV video playback)",
    factor: ("clip", &["720p"]),
    metric: "Frames shown as fast as possible",
    unit: "frames/s",
    millions: false,
    make,
};

struct Video {
    clip: Clip,
    decoder: Decoder,
    next: usize,
    planes: [wgpu::Texture; 3],
    pipeline: wgpu::RenderPipeline,
    group: wgpu::BindGroup,
}

fn make(gpu: &Gpu, _: &Canvas, order: Order, _: &str) -> Result<Box<dyn Scene>, Failure> {
    let clip = Clip::make(order.seed)?;
    let (width, height) = (clip::WIDTH as u32, clip::HEIGHT as u32);
    let usage = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST;
    let planes = [
        (width, height),
        (width / 2, height / 2),
        (width / 2, height / 2),
    ]
    .map(|(width, height)| texture(gpu, width, height, wgpu::TextureFormat::R8Unorm, usage));
    let module = shader(gpu, &[COMMON, include_str!("video/show.wgsl")]);
    let pipeline = Draw::screen(&module, "show").build(gpu);
    let views = planes
        .each_ref()
        .map(|plane| plane.create_view(&Default::default()));
    let smooth = sampler(gpu, false, true);
    Ok(Box::new(Video {
        group: bind(gpu, &pipeline, 0, &textures(&smooth, &views)),
        decoder: decoder()?,
        clip,
        next: 0,
        planes,
        pipeline,
    }))
}

fn decoder() -> Result<Decoder, Failure> {
    Decoder::new().map_err(|error| Failure::Failed(format!("the decoder does not start: {error}")))
}

impl Scene for Video {
    fn before(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        if self.next == self.clip.packets.len() {
            self.next = 0;
        }
        let packet = &self.clip.packets[self.next];
        self.next += 1;
        let bad = |error| Failure::Invalid(format!("the clip cannot be decoded: {error}"));
        let Some(frame) = self.decoder.decode(packet).map_err(bad)? else {
            return Err(Failure::Invalid("the decoder kept a frame back".into()));
        };
        let strides = frame.strides();
        let data = [frame.y(), frame.u(), frame.v()];
        for ((plane, data), stride) in self
            .planes
            .iter()
            .zip(data)
            .zip([strides.0, strides.1, strides.2])
        {
            send(gpu, plane, data, stride as u32);
        }
        Ok(())
    }

    fn alone(&self) -> bool {
        true
    }

    fn restart(&mut self, _gpu: &Gpu) {
        self.next = 0;
    }

    fn frame(&mut self, _gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, canvas: &Canvas) {
        let mut pass = pass(encoder, Some(&canvas.view), None, Some(wgpu::Color::BLACK));
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.draw(0..3, 0..1);
    }

    fn period(&self) -> u32 {
        self.clip.packets.len() as u32
    }

    fn amount(&self) -> u64 {
        self.clip
            .packets
            .iter()
            .map(|packet| packet.len() as u64)
            .sum()
    }
}
