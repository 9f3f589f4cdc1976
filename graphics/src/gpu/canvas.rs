//! What is drawn on: a picture with a depth buffer, which can be read back.

use super::Gpu;
use crate::picture::Picture;
use pentathlon_agent::measure::Failure;

pub const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
pub const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

pub struct Canvas {
    pub color: wgpu::Texture,
    pub view: wgpu::TextureView,
    pub depth: wgpu::TextureView,
    pub width: u32,
    pub height: u32,
}

impl Canvas {
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
        }
    }

    pub fn pixels(&self) -> f64 {
        f64::from(self.width) * f64::from(self.height)
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

/// A depth buffer, which a shader can read too.
pub fn depth(gpu: &Gpu, width: u32, height: u32) -> wgpu::Texture {
    let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING;
    texture(gpu, width, height, DEPTH, usage)
}
