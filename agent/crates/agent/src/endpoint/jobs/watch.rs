//! The watcher: readings of the host's counters at a fixed period, as differences.

use super::super::host::{delta_rows, Reading};
use super::Outcome;
use crate::endpoint::answer::{self, Watched, Yield};
use pentathlon_packets::Timer;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// How often a waiting watcher looks whether it is over.
const PATIENCE: Duration = Duration::from_millis(5);

struct Snapshot {
    /// The middle of the time that it took: a thread can be put aside in between.
    at_ns: u64,
    host: Reading,
    interfaces: Option<String>,
    softnet: Option<String>,
    lines: Option<String>,
    protocols: Option<String>,
}

impl Snapshot {
    fn now(timer: &Timer) -> Self {
        let read = |path| std::fs::read_to_string(path).ok();
        let begun_ns = timer.now_ns();
        let mut snapshot = Self {
            at_ns: begun_ns,
            host: Reading::now(),
            interfaces: read("/proc/net/dev"),
            softnet: read("/proc/net/softnet_stat").map(|text| named_softnet(&text)),
            lines: read("/proc/interrupts").map(|text| named_interrupts(&text)),
            // Those of version 6 have a line for each counter already.
            protocols: read("/proc/net/snmp")
                .map(|text| named_protocols(&text) + &read("/proc/net/snmp6").unwrap_or_default()),
        };
        snapshot.at_ns = begun_ns.midpoint(timer.now_ns());
        snapshot
    }

    fn since(&self, before: &Self) -> answer::Reading {
        answer::Reading {
            from_ns: before.at_ns,
            to_ns: self.at_ns,
            host: self.host.since(&before.host),
            interfaces: delta_rows(&before.interfaces, &self.interfaces, ""),
            softnet: delta_rows(&before.softnet, &self.softnet, ""),
            lines: delta_rows(&before.lines, &self.lines, ""),
            protocols: delta_rows(&before.protocols, &self.protocols, ""),
        }
    }
}

/// `/proc/net/softnet_stat` has a line of hexadecimal numbers for each CPU: packets, dropped for a
/// full backlog, budget used up, ... (net/core/net-procfs.c). Here with a name and in decimal.
fn named_softnet(text: &str) -> String {
    let mut rows = String::new();
    for (cpu, line) in text.lines().enumerate() {
        rows += &format!("cpu{cpu}");
        for word in line.split_whitespace() {
            rows += &format!(" {}", u64::from_str_radix(word, 16).unwrap_or(0));
        }
        rows.push('\n');
    }
    rows
}

/// The lines of `/proc/interrupts` under the names of their devices: `DEVICE number ...`.
fn named_interrupts(text: &str) -> String {
    let mut rows: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let mut words = line.split_whitespace().peekable();
        let Some(label) = words.next() else { continue };
        let mut numbers = Vec::new();
        while let Some(number) = words.peek().and_then(|word| word.parse::<u64>().ok()) {
            numbers.push(number);
            words.next();
        }
        let device = words.last().unwrap_or(label);
        let label = label.trim_end_matches(':');
        // The lines of the architecture have a description where others have devices.
        let name = if label.parse::<u32>().is_ok() {
            device.replace(' ', "-")
        } else {
            label.to_owned()
        };
        let row = rows.entry(name).or_default();
        let old = std::mem::take(row);
        // A device may have several lines, such as one for each queue.
        *row = (0..numbers.len().max(old.len()))
            .map(|i| numbers.get(i).unwrap_or(&0) + old.get(i).unwrap_or(&0))
            .collect();
    }
    rows.iter().fold(String::new(), |mut all, (name, numbers)| {
        all += name;
        for number in numbers {
            all += &format!(" {number}");
        }
        all.push('\n');
        all
    })
}

/// `/proc/net/snmp` has a line of names and a line of numbers for each protocol: here a line
/// `PROTOCOL.NAME number` for each counter, such as `Udp.RcvbufErrors`.
fn named_protocols(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut rows = String::new();
    for pair in lines.chunks_exact(2) {
        let mut names = pair[0].split_whitespace();
        let mut numbers = pair[1].split_whitespace();
        let (Some(protocol), Some(_)) = (names.next(), numbers.next()) else {
            continue;
        };
        for (name, number) in names.zip(numbers) {
            rows += &format!("{}.{name} {number}\n", protocol.trim_end_matches(':'));
        }
    }
    rows
}

pub fn start(period_ms: u64, over: &Arc<AtomicBool>, timer: Timer) -> JoinHandle<Outcome> {
    let over = Arc::clone(over);
    let period = Duration::from_millis(period_ms.max(1));
    std::thread::spawn(move || Ok(Yield::Watch(watch(period, &over, &timer))))
}

fn watch(period: Duration, over: &AtomicBool, timer: &Timer) -> Watched {
    let first = Snapshot::now(timer);
    let mut readings = Vec::new();
    let mut last = Snapshot::now(timer);
    let mut due = timer.now_ns() + period.as_nanos() as u64;
    while !over.load(Ordering::Relaxed) {
        let left = due.saturating_sub(timer.now_ns());
        if left > 0 {
            std::thread::sleep(PATIENCE.min(Duration::from_nanos(left)));
            continue;
        }
        let next = Snapshot::now(timer);
        readings.push(next.since(&last));
        last = next;
        due += period.as_nanos() as u64;
    }
    Watched {
        readings,
        whole: Snapshot::now(timer).since(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupts_are_named_by_device_and_queues_added() {
        let text = "           CPU0       CPU1\n  8:   3   4  IO-APIC  8-edge  rtc0\n \
                    24:   10   1  PCI-MSI 1-edge  eth0\n 25:   5   0  PCI-MSI 2-edge  eth0\n\
                    LOC:  100  200  Local timer interrupts\nERR:  0\n";
        let named = named_interrupts(text);
        let mut lines: Vec<_> = named.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["ERR 0", "LOC 100 200", "eth0 15 1", "rtc0 3 4"]);
    }

    #[test]
    fn protocols_have_a_line_for_each_counter() {
        let text = "Ip: Forwarding Drops\nIp: 1 7\nUdp: RcvbufErrors\nUdp: 9\n";
        let named = named_protocols(text);
        assert_eq!(named, "Ip.Forwarding 1\nIp.Drops 7\nUdp.RcvbufErrors 9\n");
    }

    #[test]
    fn softnet_is_hexadecimal() {
        assert_eq!(named_softnet("0000000a 00000001\n"), "cpu0 10 1\n");
    }
}
