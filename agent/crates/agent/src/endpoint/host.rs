//! What a trial cost its host: CPU time of the whole system by kind and CPU, and of the agent.

use super::answer::Rows;
use schemars::JsonSchema;
use serde::Serialize;

/// A reading of the host's counters; `null` where the system does not report.
pub struct Reading {
    stat: Option<String>,
    softirqs: Option<String>,
    interrupts: Option<String>,
    snmp: Option<String>,
    process_ns: Option<u64>,
    /// What the last kinds of CPU time are.
    fields: [&'static str; 3],
}

/// Differences between two readings; null where the system does not report.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "HostCounters")]
pub struct Counted {
    /// CPU time by kind, of all CPUs and of each, in ticks.
    pub cpus: Option<Rows>,
    pub cpu_fields: Vec<&'static str>,
    pub tick_ns: Option<u64>,
    pub softirqs: Option<Rows>,
    pub interrupts: Option<Rows>,
    pub tcp: Option<Segments>,
    /// CPU time of this process.
    pub agent_cpu_ns: Option<u64>,
}

/// Segments that TCP sent, and those of them that it sent again (RFC 4022, tcpRetransSegs).
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Segments {
    pub segments: u64,
    pub retransmitted: u64,
}

/// A kind of CPU time that the system does not report.
#[cfg(windows)]
const UNKNOWN: &str = "unknown";

impl Reading {
    /// Windows has no such tables; they are written from what it reports, in ticks of 100 ns:
    /// GetSystemTimes for all CPUs, and for each NtQuerySystemInformation, whose deferred calls
    /// stand in the place of softirqs.
    #[cfg(windows)]
    pub fn now() -> Self {
        use std::fmt::Write;
        let (mut stat, mut interrupts) = (String::new(), String::from("all:"));
        let each = pentathlon_os::machine::Interrupts::new().times();
        let each = each.unwrap_or_default();
        let row = |[idle, kernel, user, deferred, served]: [u64; 5]| {
            let system = kernel.saturating_sub(idle + deferred + served);
            format!("{user} 0 {system} {idle} 0 {served} {deferred} 0\n")
        };
        if let Ok([idle, kernel, user]) = pentathlon_os::machine::times() {
            let sum = |place: usize| each.iter().map(|(times, _)| times[place]).sum();
            let all = [idle / 100, kernel / 100, user / 100, sum(3), sum(4)];
            write!(stat, "cpu {}", row(all)).ok();
        }
        for (cpu, (times, count)) in each.iter().enumerate() {
            write!(stat, "cpu{cpu} {}", row(*times)).ok();
            write!(interrupts, " {count}").ok();
        }
        Self {
            stat: (!stat.is_empty()).then_some(stat),
            softirqs: None,
            interrupts: each
                .iter()
                .any(|(_, count)| *count > 0)
                .then_some(interrupts),
            snmp: None,
            process_ns: process_ns(),
            // Wine keeps no times of interrupts: they are all 0 since its start.
            fields: match each.iter().any(|(times, _)| times[3] + times[4] > 0) {
                true => ["irq", "softirq", UNKNOWN],
                false => [UNKNOWN; 3],
            },
        }
    }

    #[cfg(not(windows))]
    pub fn now() -> Self {
        let read = |path| std::fs::read_to_string(path).ok();
        Self {
            stat: read("/proc/stat"),
            softirqs: read("/proc/softirqs"),
            interrupts: read("/proc/interrupts"),
            // Of the network namespace that this process is in.
            snmp: read("/proc/self/net/snmp"),
            process_ns: process_ns(),
            fields: ["irq", "softirq", "steal"],
        }
    }

    /// What happened between two readings. CPU times are in ticks of `tick_ns`.
    pub fn since(&self, before: &Self) -> Counted {
        let mut cpu_fields = vec!["user", "nice", "system", "idle", "iowait"];
        cpu_fields.extend(self.fields);
        let process_ns = self.process_ns.zip(before.process_ns);
        Counted {
            cpus: delta_rows(&before.stat, &self.stat, "cpu"),
            cpu_fields,
            tick_ns: tick_ns(),
            softirqs: delta_rows(&before.softirqs, &self.softirqs, ""),
            interrupts: delta_rows(&before.interrupts, &self.interrupts, ""),
            tcp: tcp(&before.snmp, &self.snmp),
            agent_cpu_ns: process_ns.map(|(to, from)| to - from),
        }
    }
}

/// What distinguishes this boot of this kernel from all others (random(4)); none if the system does not say.
/// Two hosts with one kernel have one `/proc/stat`.
pub fn kernel() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

/// The lines of a table `name[:] number number ...` that begin with `prefix`, as differences; none
/// if the system has no such table. Lines that did not change are left out, but for CPUs.
pub(super) fn delta_rows(
    before: &Option<String>,
    after: &Option<String>,
    prefix: &str,
) -> Option<Rows> {
    let (before, after) = (before.as_ref()?, after.as_ref()?);
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words.next()?.trim_end_matches(':').to_owned();
        let numbers: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
        (name.starts_with(prefix) && !numbers.is_empty()).then_some((name, numbers))
    };
    let earlier: std::collections::HashMap<_, _> = before.lines().filter_map(row).collect();
    let mut rows = Rows::new();
    for (name, numbers) in after.lines().filter_map(row) {
        let Some(old) = earlier.get(&name) else {
            continue;
        };
        let deltas: Vec<u64> = numbers
            .iter()
            .zip(old)
            .map(|(new, old)| new.saturating_sub(*old))
            .collect();
        if !prefix.is_empty() || deltas.iter().any(|&delta| delta > 0) {
            rows.insert(name, deltas);
        }
    }
    Some(rows)
}

/// None if the system does not report.
fn tcp(before: &Option<String>, after: &Option<String>) -> Option<Segments> {
    let read = |text: &Option<String>, field: &str| -> Option<u64> {
        let mut rows = text
            .as_ref()?
            .lines()
            .filter(|line| line.starts_with("Tcp:"));
        let place = rows
            .next()?
            .split_whitespace()
            .position(|name| name == field)?;
        rows.next()?.split_whitespace().nth(place)?.parse().ok()
    };
    let difference = |field| Some(read(after, field)?.saturating_sub(read(before, field)?));
    Some(Segments {
        segments: difference("OutSegs")?,
        retransmitted: difference("RetransSegs")?,
    })
}

#[cfg(target_os = "linux")]
fn tick_ns() -> Option<u64> {
    pentathlon_os::kernel::ticks_per_second().map(|ticks| 1_000_000_000 / ticks)
}

#[cfg(windows)]
fn tick_ns() -> Option<u64> {
    Some(100)
}

#[cfg(not(any(target_os = "linux", windows)))]
fn tick_ns() -> Option<u64> {
    None
}

#[cfg(unix)]
fn process_ns() -> Option<u64> {
    pentathlon_os::rusage::own()
        .ok()
        .map(|usage| usage.user_ns + usage.system_ns)
}

#[cfg(windows)]
fn process_ns() -> Option<u64> {
    pentathlon_os::usage::own()
        .ok()
        .map(|usage| usage.user_ns + usage.kernel_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_differences() {
        let before = Some("cpu  1 2 3\ncpu0 1 2 3\nintr 9\n".to_owned());
        let after = Some("cpu  2 4 6\ncpu0 1 2 4\nintr 10\n".to_owned());
        assert_eq!(
            delta_rows(&before, &after, "cpu"),
            Some(Rows::from([
                ("cpu".to_owned(), vec![1, 2, 3]),
                ("cpu0".to_owned(), vec![0, 0, 1]),
            ]))
        );
        assert_eq!(delta_rows(&None, &after, "cpu"), None);
    }

    #[test]
    fn segments_are_found_by_the_names_of_their_columns() {
        let text = |out, again| {
            Some(format!(
                "Ip: Forwarding\nIp: 1\nTcp: InSegs OutSegs RetransSegs\nTcp: 1 {out} {again}\n"
            ))
        };
        assert_eq!(
            tcp(&text(10, 1), &text(30, 4)),
            Some(Segments {
                segments: 20,
                retransmitted: 3
            })
        );
        assert_eq!(tcp(&Some("Ip: 1\n".into()), &text(1, 1)), None);
    }

    #[test]
    fn lines_that_did_not_change_are_left_out() {
        let before = Some("  NET_RX:  5  6\n  TIMER: 1 1\n".to_owned());
        let after = Some("  NET_RX:  7  6\n  TIMER: 1 1\n".to_owned());
        let expected = Rows::from([("NET_RX".to_owned(), vec![2, 0])]);
        assert_eq!(delta_rows(&before, &after, ""), Some(expected));
    }
}
