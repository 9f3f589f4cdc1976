//! Counters of this process and its children.

use crate::counters::{clock_step, Delta};
use pentathlon_inventory::linux::layer::Kernel;
use pentathlon_os::{kernel, pages, rusage};
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Debug, Default)]
pub struct Process {
    cpu: bool,
    switches: bool,
    involuntary: bool,
    faults: bool,
}

impl Process {
    /// Finds out which fields of `getrusage(2)` this kernel fills in: some kernels leave fields
    /// zero for ever.
    pub fn open(layer: Kernel, unsupported: &mut BTreeMap<&'static str, String>) -> Self {
        if let Err(error) = rusage::own().and_then(|_| rusage::children()) {
            for name in &pentathlon_protocol::COUNTERS[..6] {
                unsupported.insert(name, format!("getrusage(2) failed: {error}"));
            }
            return Self::default();
        }
        let switches = counts_switches();
        let faults = counts_faults();
        let mut refuse = |names: [&'static str; 2], reason: &str| {
            for name in names {
                unsupported.entry(name).or_insert_with(|| reason.to_owned());
            }
        };
        if !switches {
            refuse(
                ["voluntary_switches", "involuntary_switches"],
                "a sleep was not counted as a context switch",
            );
        }
        if !faults {
            refuse(
                ["minor_faults", "major_faults"],
                "writing to new pages was not counted as page faults",
            );
        }
        // gVisor's getrusage leaves ru_nivcsw zero, and no program can make itself be preempted.
        let involuntary = switches && layer != Kernel::Gvisor;
        if !involuntary {
            refuse(
                ["involuntary_switches", "involuntary_switches"],
                "gVisor does not count involuntary context switches",
            );
        }
        Self {
            cpu: true,
            switches,
            involuntary,
            faults,
        }
    }

    pub fn read(&self, into: &mut Delta) {
        if !self.cpu {
            return;
        }
        let (Ok(own), Ok(children)) = (rusage::own(), rusage::children()) else {
            return;
        };
        let keep = |counted: bool, value: u64| counted.then_some(value);
        into.cpu_user_ns = Some(own.user_ns + children.user_ns);
        into.cpu_system_ns = Some(own.system_ns + children.system_ns);
        into.voluntary_switches = keep(
            self.switches,
            own.voluntary_switches + children.voluntary_switches,
        );
        into.involuntary_switches = keep(
            self.involuntary,
            own.involuntary_switches + children.involuntary_switches,
        );
        into.minor_faults = keep(self.faults, own.minor_faults + children.minor_faults);
        into.major_faults = keep(self.faults, own.major_faults + children.major_faults);
    }
}

/// Whether a sleep shows as a voluntary context switch.
fn counts_switches() -> bool {
    // A sleep shorter than its own system call may end before the CPU is given up.
    [20_000, 1_000_000].into_iter().any(|ns| {
        let before = rusage::own();
        std::thread::sleep(Duration::from_nanos(ns));
        moved(before, |usage| usage.voluntary_switches)
    })
}

/// Whether the first writes to new pages show as page faults.
fn counts_faults() -> bool {
    let page_bytes = kernel::page_bytes()
        .and_then(|bytes| usize::try_from(bytes).ok())
        .unwrap_or(4096);
    let before = rusage::own();
    pages::touch_new(16, page_bytes).is_ok() && moved(before, |usage| usage.minor_faults)
}

fn moved(before: std::io::Result<rusage::Usage>, field: impl Fn(&rusage::Usage) -> u64) -> bool {
    matches!((before, rusage::own()), (Ok(before), Ok(after)) if field(&after) > field(&before))
}

/// The smallest step in which the CPU time of this process is seen to move, in ns; none if it does
/// not move within 50 ms of work.
pub fn clock_step_ns() -> Option<u64> {
    clock_step::clock_step_ns(|| {
        let usage = rusage::own().ok()?;
        Some(usage.user_ns + usage.system_ns)
    })
}
