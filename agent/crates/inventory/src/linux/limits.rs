//! What this process may use: its resource limits and its control groups.

use crate::leaf::{leaf, leaf_or, unsupported, Reason, Reported};
use crate::source::Source;
use serde_json::{json, Map, Value};

pub fn collect(source: &Source) -> Value {
    json!({
        "resources": leaf(resources(source)),
        "control_group": leaf(super::cgroup::collect(source)),
        "allowed_cpus": leaf(super::status(source, "Cpus_allowed_list")),
        "allowed_nodes": leaf(super::status(source, "Mems_allowed_list")),
        "autogroup_nice": leaf(autogroup_nice(source)),
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

/// "/autogroup-39 nice 0": groups of the scheduler, one for each session (sched(7)).
fn autogroup_nice(source: &Source) -> Reported<i64> {
    let path = "/proc/self/autogroup";
    let text = source.text(path)?;
    text.rsplit_once("nice ")
        .and_then(|(_, nice)| nice.trim().parse().ok())
        .ok_or_else(|| Reason::new(format!("{path} has no nice value")))
}

/// `/proc/self/limits`: soft and hard limit of each resource.
fn resources(source: &Source) -> Reported<Map<String, Value>> {
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
        Some(text) if text.trim() == "unlimited" => "unlimited".into(),
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
