//! Lines of pictures sent from the processor's memory to the graphics memory.

use super::{Entry, Order, Scene};
use crate::gpu::canvas::{send, texture, Canvas, FORMAT};
use crate::gpu::Gpu;
use crate::shape::Random;
use pentathlon_harness::measure::Failure;

pub const ENTRY: Entry = Entry {
    id: "graphics.memory",
    title: "Graphics memory",
    summary: "So many lines of the canvas are written by the processor and sent to the graphics \
              memory for each frame, where they are copied onto the canvas.",
    source: "martinovic2012 §4.1, Tab. 7, Tab. 14 (PCMark05 graphics memory, 64 and 128 lines)",
    factor: ("lines", &["64", "128"]),
    metric: "Frames sent",
    unit: "frames/s",
    millions: false,
    make,
};

struct Lines {
    lines: u32,
    width: u32,
    height: u32,
    /// The pictures that are sent, in turn.
    pictures: [Vec<u8>; 2],
    staging: wgpu::Texture,
    next: u32,
}

fn make(gpu: &Gpu, canvas: &Canvas, order: Order, choice: &str) -> Result<Box<dyn Scene>, Failure> {
    let lines = choice
        .parse::<u32>()
        .expect("a choice of the catalog")
        .min(canvas.height);
    let mut random = Random::new(order.seed);
    let pictures = [0.25f32, 0.75].map(|light| {
        let pixels = (canvas.width * lines) as usize;
        let mut data = Vec::with_capacity(pixels * 4);
        for pixel in 0..pixels {
            let grain = random.unit() * 0.25;
            let across = (pixel % canvas.width as usize) as f32 / canvas.width as f32;
            let color = [
                light * 0.7 + grain,
                across * 0.7 + grain,
                (1.0 - light) * 0.7 + grain,
            ];
            data.extend(color.map(|part| (part * 255.0) as u8));
            data.push(255);
        }
        data
    });
    let usage = wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::COPY_DST;
    Ok(Box::new(Lines {
        lines,
        width: canvas.width,
        height: canvas.height,
        pictures,
        staging: texture(gpu, canvas.width, lines, FORMAT, usage),
        next: 0,
    }))
}

impl Lines {
    /// Blocks of lines that fit on the canvas.
    fn blocks(&self) -> u32 {
        self.height.div_ceil(self.lines)
    }
}

impl Scene for Lines {
    fn before(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        // The processor changes what it sends, or a driver might know it already.
        let round = self.next / self.blocks();
        let picture = &mut self.pictures[(round % 2) as usize];
        picture[0] = self.next as u8;
        send(gpu, &self.staging, picture, self.width * 4);
        Ok(())
    }

    fn alone(&self) -> bool {
        true
    }

    fn restart(&mut self, _gpu: &Gpu) {
        self.next = 0;
    }

    fn frame(&mut self, _gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, canvas: &Canvas) {
        let top = self.next % self.blocks() * self.lines;
        self.next += 1;
        let height = self.lines.min(self.height - top);
        encoder.copy_texture_to_texture(
            self.staging.as_image_copy(),
            wgpu::TexelCopyTextureInfo {
                origin: wgpu::Origin3d { x: 0, y: top, z: 0 },
                ..canvas.color.as_image_copy()
            },
            wgpu::Extent3d {
                width: self.width,
                height,
                depth_or_array_layers: 1,
            },
        );
    }

    /// Until every line of the canvas has been written, twice, so that both pictures take turns.
    fn period(&self) -> u32 {
        2 * self.blocks()
    }

    fn amount(&self) -> u64 {
        u64::from(self.lines * self.width)
    }
}
