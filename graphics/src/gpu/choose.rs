//! Which adapter draws: by programming interface and by name, the strongest kind first.

use super::screen::Screen;
use super::window::Window;
use super::Gpu;
use pentathlon_harness::measure::Failure;
use std::rc::Rc;

/// Names of the parameter `api`, and what they mean.
pub const APIS: [(&str, wgpu::Backends); 5] = [
    ("any", wgpu::Backends::all()),
    ("vulkan", wgpu::Backends::VULKAN),
    ("gl", wgpu::Backends::GL),
    ("dx12", wgpu::Backends::DX12),
    ("metal", wgpu::Backends::METAL),
];

/// The drivers of these interfaces; without a window, what they draw can only be read back.
fn instance(backends: wgpu::Backends, window: Option<&Window>) -> wgpu::Instance {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.display = window.map(|window| Box::new(window.handle()) as _);
    descriptor.backends = backends;
    descriptor.flags = wgpu::InstanceFlags::empty();
    wgpu::Instance::new(descriptor)
}

/// Every adapter, strongest kind first, so that a computer with a graphics card uses it.
pub fn adapters(backends: wgpu::Backends) -> Vec<wgpu::Adapter> {
    of(&instance(backends, None), backends)
}

fn of(instance: &wgpu::Instance, backends: wgpu::Backends) -> Vec<wgpu::Adapter> {
    let mut found = pollster::block_on(instance.enumerate_adapters(backends));
    found.sort_by_key(|adapter| rank(&adapter.get_info()));
    found
}

fn rank(info: &wgpu::AdapterInfo) -> (u8, u8) {
    let kind = match info.device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    };
    (kind, u8::from(info.backend == wgpu::Backend::Gl))
}

/// Opens the first adapter of the interface `api` whose name or driver contains `name`, with a
/// window of this size for its frames if one is given.
///
/// # Errors
/// There is none, or no window (`unsupported`), or it refuses to be opened.
pub fn open(api: &str, name: &str, window: Option<(u32, u32)>) -> Result<Gpu, Failure> {
    let backends = APIS
        .iter()
        .find(|(known, _)| *known == api)
        .map_or(wgpu::Backends::all(), |(_, backends)| *backends);
    let opened = window
        .map(|(width, height)| Window::open(width, height))
        .transpose()?;
    let instance = instance(backends, opened.as_ref());
    let surface = match &opened {
        None => None,
        Some(window) => Some(instance.create_surface(window.handle()).map_err(|error| {
            Failure::Unsupported(format!("no driver can show frames in a window: {error}"))
        })?),
    };
    let mut all = of(&instance, backends);
    if let Some(surface) = &surface {
        all.retain(|adapter| adapter.is_surface_supported(surface));
    }
    let names: Vec<String> = all.iter().map(|one| one.get_info().name).collect();
    let wanted = name.to_lowercase();
    let chosen = all.into_iter().find(|adapter| {
        let info = adapter.get_info();
        [info.name, info.driver]
            .iter()
            .any(|text| text.to_lowercase().contains(&wanted))
    });
    let Some(adapter) = chosen else {
        let shown = surface.is_some();
        return Err(Failure::Unsupported(absent(api, name, shown, &names)));
    };
    let mut gpu = from(&adapter)?;
    if let (Some(surface), Some(window), Some(size)) = (surface, opened, window) {
        let screen = gpu.guarded(|| Screen::new(&gpu, &adapter, surface, window, size))??;
        gpu.screen = Some(Rc::new(screen));
    }
    Ok(gpu)
}

fn absent(api: &str, name: &str, shown: bool, others: &[String]) -> String {
    let interface = if api == "any" {
        String::new()
    } else {
        format!(" for {api}")
    };
    if others.is_empty() {
        let what = if shown {
            "shows frames in a window of this display"
        } else {
            "a program can open"
        };
        return format!("this system has no graphics adapter{interface} that {what}");
    }
    format!(
        "no graphics adapter{interface} has \"{name}\" in its name; there are: {}",
        others.join(", ")
    )
}

/// Opens this adapter, with whatever it has of what the scenes can make use of.
///
/// # Errors
/// It refuses, or is too small for the scenes.
pub fn from(adapter: &wgpu::Adapter) -> Result<Gpu, Failure> {
    let info = adapter.get_info();
    let timestamps = adapter.features().contains(wgpu::Features::TIMESTAMP_QUERY);
    let needed = wgpu::Limits::downlevel_defaults();
    let limits = wgpu::Limits {
        max_buffer_size: adapter.limits().max_buffer_size,
        ..needed.using_resolution(adapter.limits())
    };
    let descriptor = wgpu::DeviceDescriptor {
        label: None,
        required_features: if timestamps {
            wgpu::Features::TIMESTAMP_QUERY
        } else {
            wgpu::Features::empty()
        },
        required_limits: limits,
        ..Default::default()
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
        .map_err(|error| Failure::Unsupported(format!("{} cannot be used: {error}", info.name)))?;
    Ok(Gpu {
        device,
        queue,
        info,
        timestamps,
        screen: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_adapter_is_reported_with_what_there_is() {
        let none = absent("vulkan", "", false, &[]);
        assert!(none.contains("no graphics adapter for vulkan"), "{none}");
        let other = absent("any", "radeon", false, &["llvmpipe".into()]);
        assert!(
            other.contains("\"radeon\"") && other.contains("llvmpipe"),
            "{other}"
        );
    }
}
