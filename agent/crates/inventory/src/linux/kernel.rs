//! The kernel: its release, build, configuration, command line, modules and scheduler.

use super::{config, text};
use crate::leaf::{leaf, Reason, Reported};
use crate::source::Source;
use pentathlon_os::kernel::{self, Uname};
use serde_json::{json, Value};

pub fn collect(source: &Source) -> Value {
    let uname = source.ask("uname(2)", || Ok(kernel::uname()));
    let part = |field: fn(&Uname) -> &String, file: &str| {
        let requested = uname.as_ref().map(|uname| field(uname).clone());
        leaf(requested.or_else(|_| source.string(file)))
    };
    let configuration = leaf(config::collect(source));
    json!({
        "name": part(|uname| &uname.name, "/proc/sys/kernel/ostype"),
        "release": part(|uname| &uname.release, "/proc/sys/kernel/osrelease"),
        "version": part(|uname| &uname.version, "/proc/sys/kernel/version"),
        "machine": part(|uname| &uname.machine, "/proc/sys/kernel/arch"),
        "build": leaf(build(source)),
        "command_line": leaf(command_line(source).map(|line| line.join(" "))),
        // random(4): differs in every boot, and names no machine.
        "boot_id": leaf(source.string("/proc/sys/kernel/random/boot_id")),
        "preemption": leaf(preemption(source, &configuration)),
        "taint": taint(source),
        "configuration": configuration,
        "modules": leaf(modules(source)),
        "scheduler": scheduler(source),
    })
}

/// Compiler and linker, as `/proc/version` names them: "(gcc ..., GNU ld ...)".
fn build(source: &Source) -> Reported<String> {
    let text = source.text("/proc/version")?;
    // "Linux version 6.1 (who@where) (gcc (Debian) 12.2.0, GNU ld 2.40) #1 SMP ..."
    text.split_once(") (")
        .map(|(_, rest)| rest.split(" #").next().unwrap_or(rest))
        .map(|tools| tools.strip_suffix(')').unwrap_or(tools).to_owned())
        .ok_or_else(|| Reason::new("/proc/version names no compiler"))
}

/// The kernel's own parameters. What follows `--` is for the first process and is left out; values
/// of parameters that are named like secrets are hidden.
fn command_line(source: &Source) -> Reported<Vec<String>> {
    const SECRET: [&str; 5] = ["pass", "secret", "token", "credential", "apikey"];
    let text = source.text("/proc/cmdline")?;
    Ok(text
        .split_whitespace()
        .take_while(|&word| word != "--")
        .map(|word| match word.split_once('=') {
            Some((name, _)) if SECRET.iter().any(|s| name.to_lowercase().contains(s)) => {
                format!("{name}=(hidden)")
            }
            _ => word.to_owned(),
        })
        .collect())
}

/// How the kernel may be interrupted by more urgent work: `none`, `voluntary`, `full`, `lazy`, `rt`.
fn preemption(source: &Source, configuration: &Value) -> Reported<String> {
    if source.flag("/sys/kernel/realtime") == Ok(true) {
        return Ok("rt".into());
    }
    // "none voluntary (full) lazy": for root, with debugfs mounted.
    let refusal = match source.text("/sys/kernel/debug/sched/preempt") {
        Ok(text) => {
            let marked = text.replace('(', "[").replace(')', "]");
            if let Some(choice) = text::chosen(&marked) {
                return Ok(choice.to_owned());
            }
            Reason::new("/sys/kernel/debug/sched/preempt marks no choice")
        }
        Err(reason) => reason,
    };
    let on = |option: &str| configuration[option] == "y";
    if on("PREEMPT_DYNAMIC") {
        let requested = source.text("/proc/cmdline").ok().and_then(|line| {
            let choice = line
                .split_whitespace()
                .find_map(|word| word.strip_prefix("preempt="));
            choice.map(str::to_owned)
        });
        if let Some(choice) = requested {
            return Ok(choice);
        }
    }
    let built = [
        ("PREEMPT_RT", "rt"),
        ("PREEMPT", "full"),
        ("PREEMPT_LAZY", "lazy"),
        ("PREEMPT_VOLUNTARY", "voluntary"),
        ("PREEMPT_NONE", "none"),
    ];
    built
        .iter()
        .find(|(option, _)| on(option))
        .map(|(_, word)| (*word).to_owned())
        .ok_or_else(|| {
            Reason::new(format!(
                "{refusal}, and the kernel's configuration does not report it"
            ))
        })
}

/// What has tainted the kernel (admin-guide/tainted-kernels.rst): the bits and their letters.
fn taint(source: &Source) -> Value {
    const LETTERS: &str = "PFSRMBUDAWCIOELKXTNJ";
    let bits = source.number::<u64>("/proc/sys/kernel/tainted");
    let letters = bits.clone().map(|bits| {
        let set = LETTERS
            .chars()
            .enumerate()
            .filter(|(bit, _)| bits >> bit & 1 == 1);
        set.map(|(_, letter)| letter).collect::<String>()
    });
    json!({ "bits": leaf(bits), "letters": leaf(letters) })
}

/// The modules loaded, in the order of `/proc/modules`; an empty list where none is.
fn modules(source: &Source) -> Reported<Vec<String>> {
    let path = "/proc/modules";
    if source.bytes(path)?.is_empty() {
        return Ok(Vec::new());
    }
    let text = source.text(path)?;
    let names = text
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    Ok(names.map(str::to_owned).collect())
}

fn scheduler(source: &Source) -> Value {
    const NAMES: [&str; 11] = [
        "nmi_watchdog",
        "numa_balancing",
        "perf_event_max_sample_rate",
        "sched_autogroup_enabled",
        "sched_cfs_bandwidth_slice_us",
        "sched_child_runs_first",
        "sched_energy_aware",
        "sched_rr_timeslice_ms",
        "sched_rt_period_us",
        "sched_rt_runtime_us",
        "timer_migration",
    ];
    let mut settings = super::sysctl(source, "/proc/sys/kernel", &NAMES);
    for key in ["base_slice_ns", "features"] {
        let path = format!("/sys/kernel/debug/sched/{key}");
        let value = source
            .string(&path)
            .map(|text| text.parse::<u64>().map_or(text.into(), Value::from));
        settings[key] = leaf(value);
    }
    settings["extension"] = leaf(source.string("/sys/kernel/sched_ext/state"));
    settings
}
