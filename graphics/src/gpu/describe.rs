//! What the inventory says of adapters, drivers and displays.

use super::choose;
use serde_json::{json, Value};

/// Whether what it draws is drawn by the processor.
pub fn is_software(info: &wgpu::AdapterInfo) -> bool {
    info.device_type == wgpu::DeviceType::Cpu
}

/// One adapter through one programming interface.
pub fn adapter(info: &wgpu::AdapterInfo) -> Value {
    json!({
        "name": info.name,
        "kind": match info.device_type {
            wgpu::DeviceType::DiscreteGpu => "discrete",
            wgpu::DeviceType::IntegratedGpu => "integrated",
            wgpu::DeviceType::VirtualGpu => "virtual",
            wgpu::DeviceType::Cpu => "software: this is work of the CPU",
            wgpu::DeviceType::Other => "other",
        },
        "api": info.backend.to_string(),
        "driver": or_unsaid(&info.driver),
        "driver_version": or_unsaid(&info.driver_info),
        "vendor_id": format!("{:#06x}", info.vendor),
        "device_id": format!("{:#06x}", info.device),
    })
}

fn or_unsaid(text: &str) -> Value {
    if text.is_empty() {
        json!({"unsupported": "the driver does not say"})
    } else {
        json!(text)
    }
}

/// Every adapter through every interface, and where windows can be opened.
pub fn inventory() -> Value {
    let adapters = choose::adapters(wgpu::Backends::all());
    json!({
        "build": crate::BUILD,
        "adapters": adapters.iter().map(|one| adapter(&one.get_info())).collect::<Vec<_>>(),
        "display": display(),
    })
}

/// The kind of display, never its name or address.
pub fn display() -> Value {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if cfg!(windows) {
        json!("Windows")
    } else if cfg!(target_os = "macos") {
        json!("macOS")
    } else if set("WAYLAND_DISPLAY") {
        json!("Wayland")
    } else if set("DISPLAY") {
        json!("X11")
    } else {
        json!({"unsupported": "neither DISPLAY nor WAYLAND_DISPLAY is set"})
    }
}
