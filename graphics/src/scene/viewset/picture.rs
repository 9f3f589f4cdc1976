//! The texture that models wear.

use crate::gpu::Gpu;

const TEXTURE: u32 = 256;

/// A brushed chequer, with smaller copies for what is far away.
pub fn picture(gpu: &Gpu) -> wgpu::TextureView {
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
