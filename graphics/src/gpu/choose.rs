//! Which adapter draws: by programming interface and by name, the strongest kind first.

use super::Gpu;
use pentathlon_agent::measure::Failure;

/// Names of the parameter `api`, and what they mean.
pub const APIS: [(&str, wgpu::Backends); 5] = [
    ("any", wgpu::Backends::all()),
    ("vulkan", wgpu::Backends::VULKAN),
    ("gl", wgpu::Backends::GL),
    ("dx12", wgpu::Backends::DX12),
    ("metal", wgpu::Backends::METAL),
];

/// An instance without a display: what it draws can only be read back.
pub fn instance(backends: wgpu::Backends) -> wgpu::Instance {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = backends;
    descriptor.flags = wgpu::InstanceFlags::empty();
    wgpu::Instance::new(descriptor)
}

/// Every adapter, strongest kind first, so that a computer with a graphics card uses it.
pub fn adapters(backends: wgpu::Backends) -> Vec<wgpu::Adapter> {
    let mut found = pollster::block_on(instance(backends).enumerate_adapters(backends));
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

/// Opens the first adapter of the interface `api` whose name or driver contains `name`.
///
/// # Errors
/// There is none (`unsupported`), or it refuses to be opened.
pub fn open(api: &str, name: &str) -> Result<Gpu, Failure> {
    let backends = APIS
        .iter()
        .find(|(known, _)| *known == api)
        .map_or(wgpu::Backends::all(), |(_, backends)| *backends);
    let all = adapters(backends);
    let names: Vec<String> = all.iter().map(|one| one.get_info().name).collect();
    let wanted = name.to_lowercase();
    let chosen = all.into_iter().find(|adapter| {
        let info = adapter.get_info();
        [info.name, info.driver]
            .iter()
            .any(|text| text.to_lowercase().contains(&wanted))
    });
    let Some(adapter) = chosen else {
        return Err(Failure::Unsupported(absent(api, name, &names)));
    };
    from(&adapter)
}

fn absent(api: &str, name: &str, others: &[String]) -> String {
    let interface = if api == "any" {
        String::new()
    } else {
        format!(" for {api}")
    };
    if others.is_empty() {
        return format!("this system has no graphics adapter{interface} that a program can open");
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
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_adapter_is_told_with_what_there_is() {
        let none = absent("vulkan", "", &[]);
        assert!(none.contains("no graphics adapter for vulkan"), "{none}");
        let other = absent("any", "radeon", &["llvmpipe".into()]);
        assert!(
            other.contains("\"radeon\"") && other.contains("llvmpipe"),
            "{other}"
        );
    }
}
