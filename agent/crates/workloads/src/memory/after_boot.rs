//! `memory.after_boot`: how much memory the system sees, and how much of it is taken before any
//! work begins.

use pentathlon_harness::measure::{Context, Failure, Reading};
use pentathlon_protocol::catalog::{self, Metric, Semantics};
use pentathlon_protocol::Case;
use serde_json::json;

pub struct AfterBoot;

impl pentathlon_harness::Workload for AfterBoot {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "memory.after_boot",
            title: "Memory after boot",
            summary: "What the system counts as physical memory, and what of it is not available \
                      to new programs; to be measured first after a boot.",
            source: "martinovic2012 §6.2 and §6.3 (initial memory load, physical memory)",
            parameters: vec![],
            factors: vec![],
            metrics: vec![
                Metric::lower("used", "Memory in use", "MB"),
                Metric::higher("visible", "Physical memory visible", "MB"),
            ],
            checksum: "0: what the system reports is the result",
            semantics: Semantics {
                linux: "visible: MemTotal of /proc/meminfo; used: MemTotal less MemAvailable; \
                        both include the agent itself",
                windows:
                    "GlobalMemoryStatusEx: ullTotalPhys, and ullTotalPhys less ullAvailPhys; both \
                          include the agent itself",
            },
        }
    }

    fn context(&self) -> &'static [&'static str] {
        &["used", "visible"]
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        if let Some(seconds) = uptime() {
            context.counter("memory.after_boot.uptime_s".into(), json!(seconds));
        }
        let case = Case::new();
        context.rounds(&case, |clock, _| {
            let from = clock.ticks();
            let (visible, available) = sizes()?;
            let elapsed_ns = clock.elapsed_ns(from, clock.ticks());
            let reading = |metric, bytes: u64| Reading {
                metric,
                case: Case::new(),
                value: bytes as f64 / 1e6,
                operations: 1,
                elapsed_ns,
                checksum: 0,
            };
            Ok(vec![
                reading("used", visible - available),
                reading("visible", visible),
            ])
        });
        Ok(())
    }
}

/// Bytes of physical memory that the system sees, and those available to new programs.
#[cfg(target_os = "linux")]
fn sizes() -> Result<(u64, u64), Failure> {
    let text = std::fs::read_to_string("/proc/meminfo")
        .map_err(|e| Failure::Unsupported(format!("/proc/meminfo: {e}")))?;
    parse(&text).map_err(Failure::Unsupported)
}

#[cfg(windows)]
fn sizes() -> Result<(u64, u64), Failure> {
    let memory = pentathlon_os::machine::memory()
        .map_err(|e| Failure::system("asking for the size of the memory", &e))?;
    if memory.available > memory.total {
        return Err(Failure::Invalid(format!(
            "GlobalMemoryStatusEx reports {} B available of {} B",
            memory.available, memory.total
        )));
    }
    Ok((memory.total, memory.available))
}

#[cfg(not(any(target_os = "linux", windows)))]
fn sizes() -> Result<(u64, u64), Failure> {
    Err(Failure::Unsupported(
        "the memory in use is read on Linux and Windows only".into(),
    ))
}

#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn parse(text: &str) -> Result<(u64, u64), String> {
    let field = |name: &str| {
        let kib = super::available::field(text, name)
            .ok_or_else(|| format!("/proc/meminfo has no {name}"))?;
        Ok::<u64, String>(kib * 1024)
    };
    let (total, available) = (field("MemTotal:")?, field("MemAvailable:")?);
    if available > total {
        return Err(format!(
            "/proc/meminfo reports {available} B available of {total} B"
        ));
    }
    Ok((total, available))
}

/// Seconds since the boot.
#[cfg(windows)]
fn uptime() -> Option<f64> {
    Some(pentathlon_os::machine::uptime_ms() as f64 / 1e3)
}

#[cfg(not(windows))]
fn uptime() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/uptime").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_are_those_of_the_fields() {
        let text = "MemTotal:   1000 kB\nMemFree: 1 kB\nMemAvailable:    600 kB\n";
        assert_eq!(parse(text), Ok((1_024_000, 614_400)));
    }

    #[test]
    fn a_system_that_does_not_report_is_named() {
        let reason = parse("MemTotal: 1000 kB\nMemFree: 1 kB\n").unwrap_err();
        assert!(reason.contains("MemAvailable"), "{reason}");
        let reason = parse("MemTotal: 10 kB\nMemAvailable: 11 kB\n").unwrap_err();
        assert!(reason.contains("of 10240 B"), "{reason}");
    }
}
