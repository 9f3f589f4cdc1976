//! Protections that cost time, and the limits of this process's rights.

use super::text;
use crate::leaf::{leaf, unsupported, Reason};
use crate::source::Source;
use pentathlon_os::kernel;
use serde_json::{json, Map, Value};

/// `/sys/devices/system/cpu/vulnerabilities`: hole to what the kernel does about it.
pub fn mitigations(source: &Source) -> Value {
    let directory = "/sys/devices/system/cpu/vulnerabilities";
    match source.names(directory) {
        Err(reason) => unsupported(reason),
        Ok(names) => Value::Object(
            names
                .into_iter()
                .map(|name| {
                    let reported = leaf(source.string(&format!("{directory}/{name}")));
                    (name, reported)
                })
                .collect::<Map<_, _>>(),
        ),
    }
}

pub fn collect(source: &Source) -> Value {
    let status = |key: &str| {
        let status = source.text("/proc/self/status")?;
        text::field(&status, key)
            .map(str::to_owned)
            .ok_or_else(|| Reason::new(format!("/proc/self/status has no {key}")))
    };
    let sandbox = status("Seccomp").map(|mode| match mode.as_str() {
        "0" => "off".to_owned(),
        "1" => "strict".to_owned(),
        "2" => "filter".to_owned(),
        _ => mode,
    });
    let modules = source
        .string("/sys/kernel/security/lsm")
        .map(|text| text.split(',').map(str::to_owned).collect::<Vec<_>>());
    let settings = |names: &[&str]| super::sysctl(source, "/proc/sys/kernel", names);
    json!({
        "address_space_randomization": leaf(
            source.number::<u64>("/proc/sys/kernel/randomize_va_space")
        ),
        "modules": leaf(modules),
        "selinux_enforcing": leaf(source.flag("/sys/fs/selinux/enforce")),
        "apparmor": leaf(source.flag("/sys/module/apparmor/parameters/enabled")),
        "lockdown": leaf(super::memory::selected(source, "/sys/kernel/security/lockdown")),
        "seccomp": leaf(sandbox),
        "seccomp_filters": leaf(status("Seccomp_filters").and_then(|count| {
            count
                .parse::<u64>()
                .map_err(|_| Reason::new("Seccomp_filters of /proc/self/status is no number"))
        })),
        "no_new_privileges": leaf(status("NoNewPrivs").map(|flag| flag == "1")),
        "effective_capabilities": leaf(status("CapEff")),
        "root": leaf(source.ask("geteuid(2)", || Ok(kernel::is_root()))),
        "speculative_store_bypass": leaf(status("Speculation_Store_Bypass")),
        "indirect_branches": leaf(status("SpeculationIndirectBranch")),
        "settings": settings(&[
            "dmesg_restrict",
            "io_uring_disabled",
            "kptr_restrict",
            "perf_event_paranoid",
            "unprivileged_bpf_disabled",
        ]),
        "ptrace_scope": leaf(source.number::<u64>("/proc/sys/kernel/yama/ptrace_scope")),
    })
}
