//! The volumes: smoke for a simulation, and the matter of any other model, as a scanner sees it.

use crate::gpu::Gpu;
use crate::shape::Mesh;
use glam::Vec3;

/// Side of a volume, in voxels.
pub const SIDE: u32 = 48;
const VOXELS: usize = (SIDE * SIDE * SIDE) as usize;

/// A cube of values, and half of its side in the units of the model.
pub struct Volume {
    pub half: f32,
    values: Vec<u8>,
}

/// Four balls of smoke.
pub fn smoke() -> Volume {
    let centres: [(f32, f32, f32, f32); 4] = [
        (0.4, 0.5, 0.5, 0.3),
        (0.65, 0.55, 0.45, 0.22),
        (0.5, 0.75, 0.6, 0.2),
        (0.55, 0.3, 0.4, 0.18),
    ];
    let mut values = Vec::with_capacity(VOXELS);
    for z in 0..SIDE {
        for y in 0..SIDE {
            for x in 0..SIDE {
                let at = [x, y, z].map(|part| (part as f32 + 0.5) / SIDE as f32);
                let thick: f32 = centres
                    .iter()
                    .map(|(a, b, c, size)| {
                        let away = (at[0] - a).powi(2) + (at[1] - b).powi(2) + (at[2] - c).powi(2);
                        (1.0 - away / (size * size)).max(0.0)
                    })
                    .sum();
                values.push((thick.min(1.0) * 255.0) as u8);
            }
        }
    }
    Volume { half: 0.95, values }
}

/// The voxels that the surface of a model goes through, softened; the same for a model of few and of
/// many triangles.
pub fn matter(model: &Mesh) -> Volume {
    let half = 1.6f32;
    let voxel = 2.0 * half / SIDE as f32;
    let mut values = vec![0u8; VOXELS];
    let mut mark = |place: Vec3| {
        let cell = ((place + half) / voxel).floor().as_ivec3();
        if cell.min_element() >= 0 && cell.max_element() < SIDE as i32 {
            let cell = cell.as_uvec3();
            values[((cell.z * SIDE + cell.y) * SIDE + cell.x) as usize] = 255;
        }
    };
    for corners in model.indices.chunks_exact(3) {
        let [a, b, c] = [0, 1, 2].map(|at| model.vertices[corners[at] as usize].position);
        let longest = (b - a).length().max((c - b).length()).max((a - c).length());
        // Points closer than voxels are wide, so that no voxel is left out.
        let steps = (longest / voxel * 1.5).ceil().max(1.0) as u32;
        for i in 0..=steps {
            for j in 0..=steps - i {
                let (u, v) = (i as f32 / steps as f32, j as f32 / steps as f32);
                mark(a + (b - a) * u + (c - a) * v);
            }
        }
    }
    for stride in [1, SIDE, SIDE * SIDE] {
        soften(&mut values, stride as usize);
    }
    Volume { half, values }
}

/// Shares a quarter of each value with either neighbour along one axis.
fn soften(values: &mut [u8], stride: usize) {
    let old = values.to_vec();
    for at in 0..values.len() {
        let place = at / stride % SIDE as usize;
        let of = |near: bool, at: usize| if near { u32::from(old[at]) } else { 0 };
        let before = of(place > 0, at.saturating_sub(stride));
        let after = of(place + 1 < SIDE as usize, (at + stride).min(old.len() - 1));
        values[at] = ((before + 2 * u32::from(old[at]) + after) / 4) as u8;
    }
}

impl Volume {
    /// Sends it to the adapter.
    pub fn send(&self, gpu: &Gpu) -> wgpu::TextureView {
        let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d {
                width: SIDE,
                height: SIDE,
                depth_or_array_layers: SIDE,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D3,
            format: wgpu::TextureFormat::R8Unorm,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        gpu.queue.write_texture(
            texture.as_image_copy(),
            &self.values,
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(SIDE),
                rows_per_image: Some(SIDE),
            },
            texture.size(),
        );
        texture.create_view(&Default::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape;

    #[test]
    fn matter_is_where_the_surface_is_and_nowhere_else() {
        let at = |volume: &Volume, place: Vec3| {
            let cell = ((place + volume.half) / (2.0 * volume.half) * SIDE as f32).as_uvec3();
            volume.values[((cell.z * SIDE + cell.y) * SIDE + cell.x) as usize]
        };
        for triangles in [500.0, 50_000.0] {
            let ball = matter(&shape::sphere(triangles));
            assert!(at(&ball, Vec3::new(1.0, 0.0, 0.0)) > 60);
            assert!(at(&ball, Vec3::new(0.0, 0.0, -1.0)) > 60);
            assert_eq!(at(&ball, Vec3::ZERO), 0);
            assert_eq!(at(&ball, Vec3::splat(1.2)), 0);
        }
    }
}
