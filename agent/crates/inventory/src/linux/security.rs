//! Protections that cost time, and the limits of this process's rights.

use crate::leaf::{leaf, Reason, Reported};
use crate::source::Source;
use pentathlon_os::kernel;
use serde_json::{json, Value};

/// `/sys/devices/system/cpu/vulnerabilities`: hole to what the kernel does about it.
pub fn mitigations(source: &Source) -> Reported<Value> {
    let directory = "/sys/devices/system/cpu/vulnerabilities";
    let reported = |name: String| {
        let reported = leaf(source.string(&format!("{directory}/{name}")));
        (name, reported)
    };
    Ok(source.names(directory)?.into_iter().map(reported).collect())
}

pub fn collect(source: &Source) -> Value {
    let status = |key: &str| super::status(source, key);
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
