//! The inventory of a Linux system, from `/proc`, `/sys`, CPUID and a few system calls.

mod block;
mod caches;
mod cgroup;
mod clocksource;
mod config;
mod cpu;
mod cpuinfo;
mod drivers;
mod filesystems;
mod firmware;
mod graphics;
mod kernel;
pub mod layer;
mod limits;
pub mod load;
mod memory;
mod network;
mod os;
mod power;
mod security;
mod smbios;
mod text;
mod virtualization;

use super::identity;
use super::leaf::{leaf, Reason, Reported};
use super::source::Source;
use serde_json::{json, Value};
use std::path::Path;

/// All sections. `scratch` is the directory of the file workloads.
pub fn collect(source: &Source, scratch: &Path) -> Value {
    // First, before the inventory's own work adds to it.
    let load = load::collect(source);
    json!({
        "cpu": cpu::collect(source),
        "caches": caches::collect(source),
        "memory": memory::collect(source),
        "os": os::collect(source),
        "kernel": kernel::collect(source),
        "mitigations": leaf(security::mitigations(source)),
        "clocksource": clocksource::collect(source),
        "virtualization": virtualization::collect(source),
        "filesystems": filesystems::collect(source, scratch),
        "block_devices": leaf(block::collect(source)),
        "network_devices": leaf(network::devices(source)),
        "network": network::stack(source),
        "graphics": graphics::collect(source),
        "drivers": drivers::collect(source),
        "firmware": firmware::collect(source),
        "security": security::collect(source),
        "power": power::collect(source),
        "limits": limits::collect(source),
        "load": load,
    })
}

/// The text of a line of `/proc/self/status`.
fn status(source: &Source, key: &str) -> Reported<String> {
    let status = source.text("/proc/self/status")?;
    text::field(&status, key)
        .map(str::to_owned)
        .ok_or_else(|| Reason::new(format!("/proc/self/status has no {key}")))
}

/// The settings `names` of a directory of `/proc/sys`: numbers as numbers, lists of numbers as
/// text with single blanks.
fn sysctl(source: &Source, directory: &str, names: &[&str]) -> Value {
    names
        .iter()
        .map(|name| {
            let value = source.text(&format!("{directory}/{name}")).map(|text| {
                text.parse::<i64>().map_or_else(
                    |_| Value::from(text.split_whitespace().collect::<Vec<_>>().join(" ")),
                    Value::from,
                )
            });
            ((*name).to_owned(), leaf(value))
        })
        .collect()
}
