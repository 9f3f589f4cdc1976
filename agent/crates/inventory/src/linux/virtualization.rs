//! The layers between this system and the hardware, and signs of a container around it.

use super::layer::{Kernel, Layers};
use crate::leaf::{leaf, Reason, Reported};
use crate::source::Source;
use serde_json::{json, Value};

pub fn collect(source: &Source) -> Value {
    let layers = Layers::detect(source);
    let names = layers.names();
    let hypervisor = match &layers.hypervisor {
        Ok(Some(found)) if found.vendor.is_empty() => Err(Reason::new(
            "CPUID leaf 40000000h leaves the hypervisor's name empty",
        )),
        Ok(Some(found)) => Ok(found.vendor.clone()),
        Ok(None) => Err(Reason::new("CPUID says that there is no hypervisor")),
        Err(reason) => Err(reason.clone()),
    };
    json!({
        // The guess in one word of the design's: the innermost layer.
        "layer": names.last().unwrap_or(&"host"),
        "layers": names,
        "evidence": layers.evidence,
        "hypervisor": leaf(hypervisor),
        "hypervisor_type": leaf(source.string("/sys/hypervisor/type")),
        "hypervisor_tells_steal": leaf(layers.hypervisor.map(|found| found.is_some_and(|h| h.tells_steal))),
        "kernel": match layers.kernel {
            Kernel::Linux => "linux",
            Kernel::Uml => "uml",
            Kernel::Gvisor => "gvisor",
        },
        "container_signs": leaf(container_signs(source)),
        "process_namespace_depth": leaf(depth(source)),
    })
}

/// Files and control groups that container managers leave. They are signs, not proof: an image
/// made for containers keeps its marks when it is booted as a machine.
fn container_signs(source: &Source) -> Reported<Vec<String>> {
    let mut signs = Vec::new();
    for path in ["/run/systemd/container", "/run/host/container-manager"] {
        if let Ok(manager) = source.string(path) {
            signs.push(format!("{path} says {manager}"));
        }
    }
    let marks = [
        "/.dockerenv",
        "/run/.containerenv",
        "/var/run/secrets/kubernetes.io",
        "/dev/lxd",
    ];
    let found = marks.iter().filter(|path| source.exists(path));
    signs.extend(found.map(|path| format!("{path} exists")));
    let words = ["docker", "kubepods", "libpod", "lxc", "containerd"];
    match source.text("/proc/1/cgroup") {
        Ok(groups) => {
            let word = words.iter().find(|&&word| groups.contains(word));
            signs.extend(word.map(|word| format!("/proc/1/cgroup names {word}")));
        }
        Err(reason) if signs.is_empty() => return Err(reason),
        Err(_) => {}
    }
    Ok(signs)
}

/// 1 in the first namespace of processes, more inside containers that see it.
fn depth(source: &Source) -> Reported<usize> {
    super::status(source, "NSpid").map(|ids| ids.split_whitespace().count())
}
