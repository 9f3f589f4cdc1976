//! The layers between this system and the hardware, and signs of a container around it.

use super::layer::{Kernel, Layers};
use crate::inventory::leaf::{first, leaf, Reason, Told};
use crate::inventory::source::Source;
use serde_json::{json, Value};

pub fn collect(source: &Source) -> Value {
    let layers = Layers::detect(source);
    let names = layers.names();
    let hypervisor = match &layers.hypervisor {
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
        "steal_time": leaf(layers.hypervisor.map(|found| found.is_some_and(|h| h.tells_steal))),
        "kernel": match layers.kernel {
            Kernel::Linux => "linux",
            Kernel::Uml => "uml",
            Kernel::Gvisor => "gvisor",
        },
        "container": leaf(container(source)),
        "process_namespace_depth": leaf(depth(source)),
    })
}

/// The kind of container, "none" where nothing hints at one.
fn container(source: &Source) -> Told<String> {
    let manager = first(
        ["/run/systemd/container", "/run/host/container-manager"].map(|path| source.string(path)),
    );
    if let Ok(manager) = manager {
        return Ok(manager);
    }
    let marks = [
        ("/.dockerenv", "docker"),
        ("/run/.containerenv", "podman"),
        ("/var/run/secrets/kubernetes.io", "kubernetes"),
        ("/dev/lxd", "lxd"),
    ];
    if let Some((_, kind)) = marks.iter().find(|(path, _)| source.exists(path)) {
        return Ok((*kind).to_owned());
    }
    let groups = source.text("/proc/1/cgroup")?;
    let words = ["docker", "kubepods", "libpod", "lxc", "containerd"];
    let word = words.iter().find(|&&word| groups.contains(word));
    Ok(word.map_or("none", |word| *word).to_owned())
}

/// 1 in the first namespace of processes, more inside containers that see it.
fn depth(source: &Source) -> Told<usize> {
    let status = source.text("/proc/self/status")?;
    super::text::field(&status, "NSpid")
        .map(|ids| ids.split_whitespace().count())
        .ok_or_else(|| Reason::new("/proc/self/status has no NSpid"))
}
