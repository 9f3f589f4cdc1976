//! The inventory of a Windows system, from its interfaces, the registry and CPUID. Under Wine it
//! reports it wherever Windows would be named.

mod hardware;
mod os;

use super::hypervisor;
use super::leaf::{leaf, unsupported, Reason, Reported};
use super::source::Source;
use pentathlon_os::filesystem::{self, Volume};
use pentathlon_os::{adapters, machine, registry, system};
use serde_json::{json, Map, Value};
use std::io;
use std::path::Path;

/// All sections, with the names that they have on Linux.
pub fn collect(source: &Source, scratch: &Path) -> Value {
    let wine = system::wine();
    let not_asked = || unsupported("this agent does not ask Windows for it");
    json!({
        "cpu": hardware::cpu(source),
        "caches": hardware::caches(),
        "memory": hardware::memory(),
        "os": os::os(wine.as_ref()),
        "kernel": os::kernel(wine.as_ref()),
        "mitigations": not_asked(),
        "clocksource": json!({"current": "QueryPerformanceCounter"}),
        "virtualization": virtualization(source, wine.as_ref()),
        "filesystems": {
            "scratch": volume(scratch),
            "root": volume(Path::new("C:\\")),
        },
        "block_devices": not_asked(),
        "network_devices": network_devices(),
        "network": not_asked(),
        "graphics": not_asked(),
        "drivers": not_asked(),
        "firmware": os::firmware(),
        "security": not_asked(),
        "power": not_asked(),
        "limits": not_asked(),
        "load": load(wine.is_some()),
    })
}

/// A number that is never 0 on a system that reports it.
fn counted(call: &str, number: u64) -> Reported<u64> {
    match number {
        0 => Err(Reason::new(format!("{call} says 0"))),
        number => Ok(number),
    }
}

/// A value of the registry.
fn registered(key: &str, name: &str) -> Reported<String> {
    let what = format!("the registry's {name}");
    let text = reported(&what, registry::string(key, name))?;
    if text.trim().is_empty() {
        return Err(Reason::new(format!("{what} is empty")));
    }
    Ok(text)
}

/// What a call of the system answered, or why it did not.
fn reported<T>(call: &str, answer: io::Result<T>) -> Reported<T> {
    answer.map_err(|error| {
        let text = error.to_string();
        let text = text.split(" (os error").next().unwrap_or(&text);
        Reason::new(format!("{call}: {}", text.trim_end_matches('.').trim()))
    })
}

fn virtualization(source: &Source, wine: Option<&system::Wine>) -> Value {
    let mut evidence = Vec::new();
    let mut layers = Vec::new();
    let hypervisor = hypervisor::detect(source);
    let vendor = match &hypervisor {
        Ok(Some(found)) => {
            evidence.push(format!("CPUID names the hypervisor {:?}", found.vendor));
            layers.push(found.layer);
            Ok(found.vendor.clone())
        }
        Ok(None) => Err(Reason::new("CPUID says that there is no hypervisor")),
        Err(reason) => Err(reason.clone()),
    };
    if let Some(wine) = wine {
        evidence.push(format!("ntdll exports wine_get_version: {}", wine.version));
        layers.push("wine");
    }
    json!({
        "layer": layers.last().unwrap_or(&"host"),
        "layers": layers,
        "evidence": evidence,
        "hypervisor": leaf(vendor),
        "kernel": if wine.is_some() { "wine" } else { "windows" },
    })
}

fn volume(path: &Path) -> Value {
    let found = reported("GetVolumeInformation", filesystem::volume(path));
    let part = |field: fn(&Volume) -> Value| leaf(found.as_ref().map(field).map_err(Clone::clone));
    json!({
        "path": path.to_string_lossy(),
        "mount_point": part(|volume| volume.root.clone().into()),
        "type": part(|volume| volume.kind.clone().into()),
        "drive": part(|volume| volume.drive.into()),
        "flags": part(|volume| volume.flags.into()),
        "block_bytes": part(|volume| volume.cluster_bytes.into()),
        "size_bytes": part(|volume| volume.bytes.into()),
        "free_bytes": part(|volume| volume.free_bytes.into()),
    })
}

fn network_devices() -> Value {
    let adapters = match reported("GetIfTable2", adapters::list()) {
        Ok(adapters) => adapters,
        Err(reason) => return unsupported(reason),
    };
    let entry = |adapter: adapters::Adapter| {
        let value = json!({
            "description": adapter.description,
            "mtu_bytes": adapter.mtu_bytes,
            "receive_bits_per_second": leaf(counted("GetIfTable2", adapter.receive_bits_per_second)),
            "send_bits_per_second": leaf(counted("GetIfTable2", adapter.send_bits_per_second)),
            "type": adapter.kind,
            "up": adapter.is_up,
        });
        (adapter.name, value)
    };
    Value::Object(adapters.into_iter().map(entry).collect::<Map<_, _>>())
}

fn load(wine: bool) -> Value {
    let performance = reported("GetPerformanceInfo", machine::performance());
    let count = |field: fn(&machine::Performance) -> u32| {
        leaf(performance.as_ref().map(field).map_err(Clone::clone))
    };
    let idle_percent =
        reported("GetSystemTimes", machine::times()).and_then(|[idle, kernel, user]| {
            // Kernel time includes idle time.
            match kernel + user {
                0 => Err(Reason::new("GetSystemTimes counts nothing")),
                _ if wine => Err(Reason::new("idle time does not move under Wine")),
                all => Ok(idle as f64 * 100.0 / all as f64),
            }
        });
    json!({
        "uptime_s": machine::uptime_ms() / 1000,
        "processes": count(|performance| performance.processes),
        "threads": count(|performance| performance.threads),
        "handles": count(|performance| performance.handles),
        "idle_percent_since_start": leaf(idle_percent),
    })
}
