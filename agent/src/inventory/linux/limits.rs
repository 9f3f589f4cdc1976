//! What this process may use: its resource limits and its control groups.

use crate::inventory::leaf::{leaf, leaf_or, unsupported, Reason, Told};
use crate::inventory::source::Source;
use serde_json::{json, Map, Value};

pub fn collect(source: &Source) -> Value {
    json!({
        "resources": leaf(resources(source)),
        "control_group": control_group(source),
        "allowed_cpus": leaf(allowed(source, "Cpus_allowed_list")),
        "allowed_nodes": leaf(allowed(source, "Mems_allowed_list")),
        "autogroup": leaf(source.string("/proc/self/autogroup")),
        "timer_slack_ns": leaf(source.number::<u64>("/proc/self/timerslack_ns")),
        "system": super::sysctl(
            source,
            "/proc/sys",
            &[
                "fs/aio-max-nr",
                "fs/file-max",
                "fs/nr_open",
                "fs/pipe-max-size",
                "fs/pipe-user-pages-soft",
                "kernel/pid_max",
                "kernel/threads-max",
            ],
        ),
    })
}

fn allowed(source: &Source, key: &str) -> Told<String> {
    let status = source.text("/proc/self/status")?;
    super::text::field(&status, key)
        .map(str::to_owned)
        .ok_or_else(|| Reason::new(format!("/proc/self/status has no {key}")))
}

/// `/proc/self/limits`: soft and hard limit of each resource; null is no limit.
fn resources(source: &Source) -> Told<Map<String, Value>> {
    let path = "/proc/self/limits";
    let text = source.text(path)?;
    // The columns start where the heading's words do.
    let mut lines = text.lines();
    let heading = lines.next().unwrap_or_default();
    let column = |word: &str| {
        heading
            .find(word)
            .ok_or_else(|| Reason::new(format!("the heading of {path} has no {word:?}")))
    };
    let (soft, hard) = (column("Soft Limit")?, column("Hard Limit")?);
    let units = column("Units")?;
    let limit = |line: &str, from: usize, to: usize| match line.get(from..to.min(line.len())) {
        Some(text) if text.trim() == "unlimited" => Value::Null,
        Some(text) => leaf_or(text.trim().parse::<u64>().ok(), "the limit is not a number"),
        None => unsupported("the line is too short"),
    };
    Ok(lines
        .filter_map(|line| {
            let name = line.get(..soft)?.trim().to_lowercase();
            let name = name.strip_prefix("max ").unwrap_or(&name).replace(' ', "_");
            let unit = line.get(units..).unwrap_or_default().trim();
            let entry = json!({
                "soft": limit(line, soft, hard),
                "hard": limit(line, hard, units),
                "unit": unit,
            });
            Some((name, entry))
        })
        .collect())
}

/// The limits of the control group that this process is in, of either version.
fn control_group(source: &Source) -> Value {
    let text = match source.text("/proc/self/cgroup") {
        Ok(text) => text,
        Err(reason) => return unsupported(reason),
    };
    let unified = text.lines().find_map(|line| line.strip_prefix("0::"));
    let v1 = |controller: &str| {
        text.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let controllers = parts.next()?;
            let path = parts.next()?;
            let found = controllers.split(',').any(|name| name == controller);
            found.then(|| format!("/sys/fs/cgroup/{controller}{}", path.trim_end_matches('/')))
        })
    };
    let read = |controller: &str, v1_file: &str, v2_file: &str| {
        if let Some(directory) = v1(controller) {
            return source.string(&format!("{directory}/{v1_file}"));
        }
        match unified {
            Some(path) => {
                let path = path.trim_end_matches('/');
                source.string(&format!("/sys/fs/cgroup{path}/{v2_file}"))
            }
            None => Err(Reason::new(format!("no control group limits {controller}"))),
        }
    };
    let hybrid = text.lines().any(|line| !line.starts_with("0:"));
    json!({
        "version": if hybrid { 1 } else { 2 },
        // v1: microseconds per period, -1 for none; v2: "quota period", "max" for none.
        "cpu_quota": leaf(read("cpu", "cpu.cfs_quota_us", "cpu.max")),
        "cpu_period": leaf(read("cpu", "cpu.cfs_period_us", "cpu.max")),
        "cpu_weight": leaf(read("cpu", "cpu.shares", "cpu.weight")),
        "memory_max": leaf(read("memory", "memory.limit_in_bytes", "memory.max")),
        "pids_max": leaf(read("pids", "pids.max", "pids.max")),
        "cpus": leaf(read("cpuset", "cpuset.cpus", "cpuset.cpus.effective")),
    })
}
