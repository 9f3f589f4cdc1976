//! Frames shown in a window, and the proof that they are seen there.

use super::pipeline::{bind, shader, uniform, Draw};
use super::window::Window;
use super::Gpu;
use crate::picture::Picture;
use crate::scene::COMMON;
use pentathlon_harness::measure::Failure;
use serde_json::{json, Value};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// How a frame may reach the window, the one that waits the least first.
const MODES: [wgpu::PresentMode; 4] = [
    wgpu::PresentMode::Immediate,
    wgpu::PresentMode::Mailbox,
    wgpu::PresentMode::FifoRelaxed,
    wgpu::PresentMode::Fifo,
];
/// Longest wait until the window shows the last frame.
const PATIENCE: Duration = Duration::from_secs(5);
/// Side of the squares that spell a frame's number, and how many there are.
const SQUARE: u32 = 4;
const BITS: u32 = 16;
/// Pictures that may wait to be shown, besides the one that is.
const WAITING: u32 = 2;

/// A window's pictures, and what has become of the frames so far. The surface is given back before
/// its window.
pub struct Screen {
    surface: wgpu::Surface<'static>,
    configuration: wgpu::SurfaceConfiguration,
    pipeline: wgpu::RenderPipeline,
    number: wgpu::Buffer,
    shown: Cell<u32>,
    refused: Cell<u32>,
    window: Window,
}

impl Screen {
    /// # Errors
    /// The adapter cannot show what is on a canvas in this window (`unsupported`).
    pub fn new(
        gpu: &Gpu,
        adapter: &wgpu::Adapter,
        surface: wgpu::Surface<'static>,
        window: Window,
        (width, height): (u32, u32),
    ) -> Result<Self, Failure> {
        let able = surface.get_capabilities(adapter);
        let Some(format) = able.formats.iter().copied().find(|format| plain(*format)) else {
            return Err(Failure::Unsupported(format!(
                "{} shows no pixels of 8 bits a part in a window as they are",
                gpu.info.name
            )));
        };
        let mode = MODES.into_iter().find(|m| able.present_modes.contains(m));
        let configuration = wgpu::SurfaceConfiguration {
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
            format,
            color_space: wgpu::SurfaceColorSpace::Auto,
            width,
            height,
            present_mode: mode.unwrap_or(wgpu::PresentMode::Fifo),
            desired_maximum_frame_latency: WAITING,
            alpha_mode: wgpu::CompositeAlphaMode::Auto,
            view_formats: Vec::new(),
        };
        surface.configure(&gpu.device, &configuration);
        let module = shader(gpu, &[COMMON, include_str!("screen.wgsl")]);
        let draw = Draw {
            format,
            ..Draw::screen(&module, "shown")
        };
        Ok(Self {
            pipeline: draw.build(gpu),
            number: uniform(gpu, [0u32; 4]),
            surface,
            configuration,
            shown: Cell::new(0),
            refused: Cell::new(0),
            window,
        })
    }

    /// What the record says of it.
    pub fn describe(&self) -> Value {
        json!({
            "system": Window::SYSTEM,
            "present_mode": format!("{:?}", self.configuration.present_mode).to_lowercase(),
            "format": format!("{:?}", self.configuration.format).to_lowercase(),
        })
    }

    /// Frames that the window did not take.
    pub fn refused(&self) -> u32 {
        self.refused.get()
    }

    /// What a pass needs to show this canvas.
    pub fn group(&self, gpu: &Gpu, canvas: &wgpu::TextureView) -> wgpu::BindGroup {
        let canvas = wgpu::BindingResource::TextureView(canvas);
        let resources = [(0, canvas), (1, self.number.as_entire_binding())];
        bind(gpu, &self.pipeline, 0, &resources)
    }

    /// Submits what draws a frame, and shows it. A frame that the window does not take is drawn all
    /// the same, and counted.
    ///
    /// # Errors
    /// The window was lost for good.
    pub fn show(
        &self,
        gpu: &Gpu,
        mut encoder: wgpu::CommandEncoder,
        canvas: &wgpu::BindGroup,
    ) -> Result<(), Failure> {
        use wgpu::CurrentSurfaceTexture as Now;
        let target = match self.surface.get_current_texture() {
            Now::Success(target) | Now::Suboptimal(target) => target,
            Now::Validation => {
                return Err(Failure::Failed(
                    "the window has no picture to draw on".into(),
                ))
            }
            other => {
                self.refused.set(self.refused.get() + 1);
                gpu.queue.submit([encoder.finish()]);
                if matches!(other, Now::Outdated | Now::Lost) {
                    self.surface.configure(&gpu.device, &self.configuration);
                }
                return Ok(());
            }
        };
        let number = self.shown.get().wrapping_add(1);
        self.shown.set(number);
        gpu.queue
            .write_buffer(&self.number, 0, bytemuck::bytes_of(&number));
        let view = target.texture.create_view(&Default::default());
        {
            let black = Some(wgpu::Color::BLACK);
            let mut pass = super::pipeline::pass(&mut encoder, Some(&view), None, black);
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, canvas, &[]);
            pass.draw(0..3, 0..1);
        }
        gpu.queue.submit([encoder.finish()]);
        gpu.queue.present(target);
        Ok(())
    }

    /// Waits until the window shows the last frame, which is this picture.
    ///
    /// # Errors
    /// It never does: what was counted as shown was not seen (`invalid`).
    pub fn seen(&self, picture: &Picture) -> Result<(), Failure> {
        let deadline = Instant::now() + PATIENCE;
        let wanted = self.shown.get() & ((1 << BITS) - 1);
        loop {
            let window = self.window.look()?;
            let (number, off) = (number(&window), furthest(&window, picture));
            if number == Some(wanted) && off <= 1 {
                return Ok(());
            }
            if Instant::now() > deadline {
                let number = number.map_or("no frame".into(), |number| format!("frame {number}"));
                return Err(Failure::Invalid(format!(
                    "the window does not show what was drawn: {} s after frame {wanted} it shows \
                     {number}, of which a pixel is {off} of 255 from the right one",
                    PATIENCE.as_secs()
                )));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Whether a pixel of the canvas is stored as it is: 8 bits a part, no curve.
fn plain(format: wgpu::TextureFormat) -> bool {
    use wgpu::TextureFormat::{Bgra8Unorm, Rgba8Unorm};
    matches!(format, Bgra8Unorm | Rgba8Unorm)
}

/// The number that the squares spell, if each of them is black or white.
fn number(window: &Picture) -> Option<u32> {
    (0..BITS).try_fold(0, |number, bit| {
        let at = (SQUARE / 2 * window.width + bit * SQUARE + SQUARE / 2) * 3;
        match window.rgb[at as usize..][..3] {
            [0, 0, 0] => Some(number),
            [255, 255, 255] => Some(number | 1 << bit),
            _ => None,
        }
    })
}

/// Greatest difference of a byte outside the squares.
fn furthest(window: &Picture, right: &Picture) -> u8 {
    let row = (window.width * 3) as usize;
    let squares = (SQUARE * BITS * 3) as usize;
    window
        .rgb
        .chunks_exact(row)
        .zip(right.rgb.chunks_exact(row))
        .enumerate()
        .flat_map(|(y, (a, b))| {
            let from = if y < SQUARE as usize { squares } else { 0 };
            a[from..].iter().zip(&b[from..])
        })
        .map(|(a, b)| a.abs_diff(*b))
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(number: u32) -> (Picture, Picture) {
        let (width, height) = (80, 16);
        let canvas = Picture::new(width, height, vec![70; (width * height * 3) as usize]);
        let mut shown = canvas.clone();
        for y in 0..SQUARE {
            for x in 0..SQUARE * BITS {
                let at = ((y * width + x) * 3) as usize;
                shown.rgb[at..at + 3].fill((number >> (x / SQUARE) & 1) as u8 * 255);
            }
        }
        (shown, canvas)
    }

    #[test]
    fn a_frames_number_is_read_and_the_rest_compared() {
        for wanted in [0, 1, 0x8000, 0xabcd, 0xffff] {
            let (shown, canvas) = window(wanted);
            assert_eq!(number(&shown), Some(wanted));
            assert_eq!(furthest(&shown, &canvas), 0);
        }
        let (mut shown, canvas) = window(5);
        assert_eq!(number(&canvas), None);
        *shown.rgb.last_mut().unwrap() = 90;
        assert_eq!(furthest(&shown, &canvas), 20);
    }
}
