//! What is drawn on: a picture with a depth buffer, which can be read back.

use super::screen::Screen;
use super::Gpu;
use crate::picture::Picture;
use pentathlon_harness::measure::Failure;
use std::rc::Rc;

pub const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
pub const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

pub struct Canvas {
    pub color: wgpu::Texture,
    pub view: wgpu::TextureView,
    pub depth: wgpu::TextureView,
    pub width: u32,
    pub height: u32,
    /// Where its frames are shown, and what a pass needs for that.
    window: Option<(Rc<Screen>, wgpu::BindGroup)>,
}

impl Canvas {
    /// One whose frames are shown in the window, if there is one.
    pub fn shown(gpu: &Gpu, width: u32, height: u32) -> Self {
        let mut canvas = Self::new(gpu, width, height);
        canvas.window = gpu
            .screen
            .as_ref()
            .map(|screen| (Rc::clone(screen), screen.group(gpu, &canvas.view)));
        canvas
    }

    /// One that is only read back.
    pub fn new(gpu: &Gpu, width: u32, height: u32) -> Self {
        let color = texture(
            gpu,
            width,
            height,
            FORMAT,
            wgpu::TextureUsages::RENDER_ATTACHMENT
                | wgpu::TextureUsages::COPY_SRC
                | wgpu::TextureUsages::COPY_DST
                | wgpu::TextureUsages::TEXTURE_BINDING,
        );
        Self {
            view: color.create_view(&Default::default()),
            depth: depth(gpu, width, height).create_view(&Default::default()),
            color,
            width,
            height,
            window: None,
        }
    }

    /// Whether each frame is shown, which takes a submission of its own.
    pub fn is_shown(&self) -> bool {
        self.window.is_some()
    }

    /// Frames that the window did not take.
    pub fn refused(&self) -> u32 {
        self.window
            .as_ref()
            .map_or(0, |(screen, _)| screen.refused())
    }

    /// Submits what draws a frame (or several, where none is shown), and shows it.
    ///
    /// # Errors
    /// The window was lost for good.
    pub fn submit(&self, gpu: &Gpu, encoder: wgpu::CommandEncoder) -> Result<(), Failure> {
        match &self.window {
            Some((screen, group)) => screen.show(gpu, encoder, group),
            None => {
                gpu.queue.submit([encoder.finish()]);
                Ok(())
            }
        }
    }

    pub fn pixels(&self) -> f64 {
        f64::from(self.width) * f64::from(self.height)
    }

    /// The picture that is on it now and, where frames are shown, is seen in the window too.
    ///
    /// # Errors
    /// The device was lost, or the window does not show it.
    pub fn look(&self, gpu: &Gpu) -> Result<Picture, Failure> {
        let picture = self.read(gpu)?;
        if let Some((screen, _)) = &self.window {
            screen.seen(&picture)?;
        }
        Ok(picture)
    }

    /// The picture that is on it now.
    ///
    /// # Errors
    /// The device was lost.
    pub fn read(&self, gpu: &Gpu) -> Result<Picture, Failure> {
        let row = (self.width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(row) * u64::from(self.height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        encoder.copy_texture_to_buffer(
            self.color.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(row),
                    rows_per_image: None,
                },
            },
            self.color.size(),
        );
        gpu.queue.submit([encoder.finish()]);
        buffer.map_async(wgpu::MapMode::Read, .., |_| {});
        gpu.finish()?;
        let mapped = buffer
            .get_mapped_range(..)
            .map_err(|error| Failure::Failed(format!("the picture cannot be read: {error}")))?;
        let mut rgb = Vec::with_capacity((self.width * self.height * 3) as usize);
        for line in mapped.chunks_exact(row as usize) {
            for pixel in line[..(self.width * 4) as usize].chunks_exact(4) {
                rgb.extend_from_slice(&pixel[..3]);
            }
        }
        Ok(Picture::new(self.width, self.height, rgb))
    }
}

/// A texture of one level.
pub fn texture(
    gpu: &Gpu,
    width: u32,
    height: u32,
    format: wgpu::TextureFormat,
    usage: wgpu::TextureUsages,
) -> wgpu::Texture {
    gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage,
        view_formats: &[],
    })
}

/// Sends all texels of a texture of one level; `row`: bytes from one line of them to the next.
#[inline]
pub fn send(gpu: &Gpu, texture: &wgpu::Texture, data: &[u8], row: u32) {
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(row),
        rows_per_image: None,
    };
    let whole = texture.size();
    gpu.queue
        .write_texture(texture.as_image_copy(), data, layout, whole);
}

/// A depth buffer, which a shader can read too.
pub fn depth(gpu: &Gpu, width: u32, height: u32) -> wgpu::Texture {
    let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING;
    texture(gpu, width, height, DEPTH, usage)
}
