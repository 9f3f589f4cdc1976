//! Pipelines, buffers and bind groups in few words. Layouts are derived from the shaders.

use super::canvas::{DEPTH, FORMAT};
use super::Gpu;
use pentathlon_harness::measure::Failure;
use wgpu::util::DeviceExt;

/// How a pass of a scene draws.
pub struct Draw<'a> {
    pub shader: &'a wgpu::ShaderModule,
    pub vertex: &'a str,
    /// `None` draws depth alone.
    pub fragment: Option<&'a str>,
    pub buffers: &'a [Option<wgpu::VertexBufferLayout<'a>>],
    pub topology: wgpu::PrimitiveTopology,
    pub format: wgpu::TextureFormat,
    pub blend: Option<wgpu::BlendState>,
    pub depth: Option<Depth>,
    pub cull: bool,
    /// Pushes what is drawn away from the eye, so that lines on a surface are seen.
    pub behind: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Hides what is behind and is hidden by what is before.
    ReadWrite,
    /// Is hidden, hides nothing.
    Read,
}

impl<'a> Draw<'a> {
    /// Triangles on the canvas, with its depth buffer.
    pub fn solid(
        shader: &'a wgpu::ShaderModule,
        buffers: &'a [Option<wgpu::VertexBufferLayout<'a>>],
    ) -> Self {
        Self {
            shader,
            vertex: "vertex",
            fragment: Some("fragment"),
            buffers,
            topology: wgpu::PrimitiveTopology::TriangleList,
            format: FORMAT,
            blend: None,
            depth: Some(Depth::ReadWrite),
            cull: false,
            behind: false,
        }
    }

    /// One triangle over the whole target, without depth.
    pub fn screen(shader: &'a wgpu::ShaderModule, fragment: &'a str) -> Self {
        Self {
            vertex: "screen",
            fragment: Some(fragment),
            depth: None,
            ..Self::solid(shader, &[])
        }
    }

    pub fn build(&self, gpu: &Gpu) -> wgpu::RenderPipeline {
        let targets = [Some(wgpu::ColorTargetState {
            format: self.format,
            blend: self.blend,
            write_mask: wgpu::ColorWrites::ALL,
        })];
        gpu.device
            .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: None,
                layout: None,
                vertex: wgpu::VertexState {
                    module: self.shader,
                    entry_point: Some(self.vertex),
                    compilation_options: Default::default(),
                    buffers: self.buffers,
                },
                primitive: wgpu::PrimitiveState {
                    topology: self.topology,
                    cull_mode: self.cull.then_some(wgpu::Face::Back),
                    ..Default::default()
                },
                depth_stencil: self.depth.map(|depth| wgpu::DepthStencilState {
                    format: DEPTH,
                    depth_write_enabled: Some(depth == Depth::ReadWrite),
                    depth_compare: Some(wgpu::CompareFunction::LessEqual),
                    stencil: Default::default(),
                    bias: wgpu::DepthBiasState {
                        constant: if self.behind { 2 } else { 0 },
                        slope_scale: if self.behind { 1.5 } else { 0.0 },
                        clamp: 0.0,
                    },
                }),
                multisample: Default::default(),
                fragment: self.fragment.map(|entry| wgpu::FragmentState {
                    module: self.shader,
                    entry_point: Some(entry),
                    compilation_options: Default::default(),
                    targets: &targets,
                }),
                multiview_mask: None,
                cache: None,
            })
    }
}

/// A shader of the parts that it is put together from.
pub fn shader(gpu: &Gpu, parts: &[&str]) -> wgpu::ShaderModule {
    gpu.device
        .create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(parts.concat().into()),
        })
}

/// A buffer with this content.
pub fn buffer<T: bytemuck::NoUninit>(
    gpu: &Gpu,
    data: &[T],
    usage: wgpu::BufferUsages,
) -> wgpu::Buffer {
    gpu.device
        .create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: bytemuck::cast_slice(data),
            usage: usage | wgpu::BufferUsages::COPY_DST,
        })
}

/// A buffer of corners or of what they are put together by, sent in parts.
///
/// # Errors
/// The adapter has no buffers of this size (`unsupported`).
pub fn geometry<T: bytemuck::NoUninit>(
    gpu: &Gpu,
    data: &[T],
    usage: wgpu::BufferUsages,
) -> Result<wgpu::Buffer, Failure> {
    const PART: usize = 1 << 26;
    let bytes: &[u8] = bytemuck::cast_slice(data);
    let (size, most) = (bytes.len() as u64, gpu.device.limits().max_buffer_size);
    if size > most {
        return Err(Failure::Unsupported(format!(
            "{} has buffers of at most {} MB, and this scene needs one of {} MB; a smaller scale fits",
            gpu.info.name,
            most / 1_000_000,
            size / 1_000_000
        )));
    }
    let made = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage: usage | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    for (number, part) in bytes.chunks(PART).enumerate() {
        gpu.queue.write_buffer(&made, (number * PART) as u64, part);
    }
    Ok(made)
}

/// A buffer of values that are the same for all that is drawn.
pub fn uniform<T: bytemuck::NoUninit>(gpu: &Gpu, value: T) -> wgpu::Buffer {
    buffer(gpu, &[value], wgpu::BufferUsages::UNIFORM)
}

/// The only bind group of a pipeline, or another one: entries by number. A shader that leaves an
/// entry out has a layout without it.
pub fn bind(
    gpu: &Gpu,
    pipeline: &wgpu::RenderPipeline,
    group: u32,
    resources: &[(u32, wgpu::BindingResource<'_>)],
) -> wgpu::BindGroup {
    let entries: Vec<_> = resources
        .iter()
        .map(|(binding, resource)| wgpu::BindGroupEntry {
            binding: *binding,
            resource: resource.clone(),
        })
        .collect();
    gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(group),
        entries: &entries,
    })
}

/// A sampler as entry 0 and textures after it.
pub fn textures<'a>(
    sampler: &'a wgpu::Sampler,
    views: impl IntoIterator<Item = &'a wgpu::TextureView>,
) -> Vec<(u32, wgpu::BindingResource<'a>)> {
    std::iter::once(wgpu::BindingResource::Sampler(sampler))
        .chain(views.into_iter().map(wgpu::BindingResource::TextureView))
        .enumerate()
        .map(|(number, resource)| (number as u32, resource))
        .collect()
}

/// A sampler; `repeat` goes on over the edge, `linear` mixes texels and levels.
pub fn sampler(gpu: &Gpu, repeat: bool, linear: bool) -> wgpu::Sampler {
    let address = if repeat {
        wgpu::AddressMode::Repeat
    } else {
        wgpu::AddressMode::ClampToEdge
    };
    let filter = if linear {
        wgpu::FilterMode::Linear
    } else {
        wgpu::FilterMode::Nearest
    };
    gpu.device.create_sampler(&wgpu::SamplerDescriptor {
        address_mode_u: address,
        address_mode_v: address,
        address_mode_w: address,
        mag_filter: filter,
        min_filter: filter,
        mipmap_filter: if linear {
            wgpu::MipmapFilterMode::Linear
        } else {
            wgpu::MipmapFilterMode::Nearest
        },
        ..Default::default()
    })
}

/// An opaque colour.
pub fn color(r: f64, g: f64, b: f64) -> wgpu::Color {
    wgpu::Color { r, g, b, a: 1.0 }
}

/// A pass over a colour target and, if there is one, a depth buffer; both are cleared if `clear`.
pub fn pass<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    color: Option<&wgpu::TextureView>,
    depth: Option<&wgpu::TextureView>,
    clear: Option<wgpu::Color>,
) -> wgpu::RenderPass<'a> {
    let attachments = [color.map(|view| wgpu::RenderPassColorAttachment {
        view,
        depth_slice: None,
        resolve_target: None,
        ops: wgpu::Operations {
            load: clear.map_or(wgpu::LoadOp::Load, wgpu::LoadOp::Clear),
            store: wgpu::StoreOp::Store,
        },
    })];
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: None,
        color_attachments: if color.is_some() { &attachments } else { &[] },
        depth_stencil_attachment: depth.map(|view| wgpu::RenderPassDepthStencilAttachment {
            view,
            depth_ops: Some(wgpu::Operations {
                load: clear.map_or(wgpu::LoadOp::Load, |_| wgpu::LoadOp::Clear(1.0)),
                store: wgpu::StoreOp::Store,
            }),
            stencil_ops: None,
        }),
        timestamp_writes: None,
        occlusion_query_set: None,
        multiview_mask: None,
    })
}
