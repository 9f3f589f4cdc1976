//! Telemetry beside each sample: what the operating system counted while a batch ran.
//!
//! A reading is taken just before and just after the timed region, never inside it. A counter
//! that this system does not keep, or that can never move on it, is `None` in every reading and
//! named with the reason by [`Counters::support`]: it is never a zero.

#[cfg(any(target_os = "linux", windows))]
mod clock_step;
#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod platform;
#[cfg(windows)]
#[path = "windows.rs"]
mod platform;
#[cfg(not(any(target_os = "linux", windows)))]
#[path = "none.rs"]
mod platform;

use serde::Serialize;
use std::collections::BTreeMap;

/// How much one sample's batch moved each counter; the names are those of the protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Delta {
    /// CPU time in user mode of this process and of the children it has waited for, in ns.
    /// Linux measures the sum with the scheduler's clock and splits it into user and system by
    /// sampling: the sum is exact to 1 us, the split may be off by a tick.
    pub cpu_user_ns: Option<u64>,
    /// The same in kernel mode.
    pub cpu_system_ns: Option<u64>,
    /// Context switches because the process waited for something.
    pub voluntary_switches: Option<u64>,
    /// Context switches because the scheduler took the CPU away.
    pub involuntary_switches: Option<u64>,
    /// Page faults answered without input or output.
    pub minor_faults: Option<u64>,
    /// Page faults that needed input or output.
    pub major_faults: Option<u64>,
    /// Time that the hypervisor gave to others while a CPU of this machine wanted to run, summed
    /// over all its CPUs, in ns (in ticks of usually 10 ms).
    pub steal_ns: Option<u64>,
    /// Interrupts that the machine has served, on all its CPUs.
    pub interrupts: Option<u64>,
    /// Frequency of the CPU that the reading was taken on, at the end of the batch, in kHz.
    pub frequency_khz: Option<u64>,
    /// Cycles of the CPU that this process and its children took, by the processor's own count.
    pub cycles: Option<u64>,
    /// Instructions that they retired.
    pub instructions: Option<u64>,
}

/// One reading of all counters: totals since some time in the past, and the present frequency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reading(Delta);

impl Reading {
    /// What moved since `before`. A counter that went backwards (steal time does after some
    /// live migrations) has no value for this sample.
    pub fn delta(&self, before: &Self) -> Delta {
        let (after, before) = (&self.0, &before.0);
        let moved = |field: fn(&Delta) -> Option<u64>| field(after)?.checked_sub(field(before)?);
        Delta {
            cpu_user_ns: moved(|total| total.cpu_user_ns),
            cpu_system_ns: moved(|total| total.cpu_system_ns),
            voluntary_switches: moved(|total| total.voluntary_switches),
            involuntary_switches: moved(|total| total.involuntary_switches),
            minor_faults: moved(|total| total.minor_faults),
            major_faults: moved(|total| total.major_faults),
            steal_ns: moved(|total| total.steal_ns),
            interrupts: moved(|total| total.interrupts),
            frequency_khz: after.frequency_khz,
            cycles: moved(|total| total.cycles),
            instructions: moved(|total| total.instructions),
        }
    }
}

/// The names of the counters, in the protocol's order.
pub const NAMES: [&str; 11] = [
    "cpu_user_ns",
    "cpu_system_ns",
    "voluntary_switches",
    "involuntary_switches",
    "minor_faults",
    "major_faults",
    "steal_ns",
    "interrupts",
    "frequency_khz",
    "cycles",
    "instructions",
];

/// Which counters this system keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Support {
    pub supported: Vec<&'static str>,
    /// Counter to reason.
    pub unsupported: BTreeMap<&'static str, String>,
    /// The smallest step of the counters of time, in ns.
    pub resolution_ns: BTreeMap<&'static str, u64>,
    /// What the processor's counters count: `user and kernel`, or `user` where the system allows
    /// no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<&'static str>,
}

impl Support {
    fn new(
        mut unsupported: BTreeMap<&'static str, String>,
        resolution_ns: BTreeMap<&'static str, u64>,
        scope: Option<&'static str>,
    ) -> Self {
        unsupported.retain(|name, _| NAMES.contains(name));
        Self {
            supported: NAMES
                .into_iter()
                .filter(|name| !unsupported.contains_key(name))
                .collect(),
            resolution_ns: resolution_ns
                .into_iter()
                .filter(|(name, _)| !unsupported.contains_key(name))
                .collect(),
            unsupported,
            scope,
        }
    }
}

/// What to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Leave the counters of the whole machine (steal, interrupts, frequency) out, where their
    /// files cost too much to read beside every sample.
    pub only_process: bool,
    /// Leave the processor's counters out: where they count, every switch between threads and
    /// every new process takes longer.
    pub no_cycles: bool,
}

/// The counters of this process and machine, opened once and read often.
#[derive(Debug)]
pub struct Counters(platform::Platform);

impl Counters {
    /// Opens all counters. Takes under 1 ms on a host: it sleeps for a moment and touches a few new
    /// pages to see whether the system counts that.
    pub fn open() -> Self {
        Self::with(Options::default())
    }

    pub fn with(options: Options) -> Self {
        Self(platform::Platform::open(options))
    }

    /// The reading just before a batch. Allocates nothing; costs a few system calls: outside timed
    /// regions only. What belongs to this process is read last here and first in [`Self::after`],
    /// so that the cost of reading the machine's counters is not counted to the batch.
    pub fn before(&mut self) -> Reading {
        let mut totals = Delta::default();
        self.0.read_machine(&mut totals);
        self.0.read_process(&mut totals);
        Reading(totals)
    }

    /// The reading just after a batch.
    pub fn after(&mut self) -> Reading {
        let mut totals = Delta::default();
        self.0.read_process(&mut totals);
        self.0.read_machine(&mut totals);
        Reading(totals)
    }

    /// What is read here and what is not, and why. Watches the CPU clock for its smallest step,
    /// which takes up to 50 ms where that clock is coarse: once per session.
    pub fn support(&self) -> Support {
        self.0.support()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(all: Option<u64>) -> Delta {
        Delta {
            cpu_user_ns: all,
            cpu_system_ns: all,
            voluntary_switches: all,
            involuntary_switches: all,
            minor_faults: all,
            major_faults: all,
            steal_ns: all,
            interrupts: all,
            frequency_khz: all,
            cycles: all,
            instructions: all,
        }
    }

    #[test]
    fn a_delta_is_what_moved() {
        let before = Reading(totals(Some(15)));
        let after = Reading(totals(Some(115)));
        let mut expected = totals(Some(100));
        expected.frequency_khz = Some(115);
        assert_eq!(after.delta(&before), expected);
    }

    #[test]
    fn a_counter_that_goes_backwards_has_no_value() {
        let mut expected = totals(None);
        expected.frequency_khz = Some(4);
        let before = Reading(totals(Some(5)));
        assert_eq!(Reading(totals(Some(4))).delta(&before), expected);
    }

    #[test]
    fn an_untold_counter_stays_untold() {
        let told = Reading(totals(Some(1)));
        let untold = Reading(totals(None));
        assert_eq!(untold.delta(&told), totals(None));
        assert_eq!(told.delta(&untold).minor_faults, None);
    }

    #[test]
    fn the_protocol_s_names_are_the_fields_names() {
        let fields = serde_json::to_value(totals(Some(1))).unwrap();
        let names: Vec<&str> = fields
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(names, NAMES);
    }

    #[test]
    fn every_counter_is_supported_or_refused_and_never_both() {
        let reasons = BTreeMap::from([("steal_ns", "none".to_owned()), ("nonsense", "x".into())]);
        let support = Support::new(reasons, BTreeMap::from([("steal_ns", 5)]), None);
        assert_eq!(support.supported.len(), 10);
        assert!(!support.supported.contains(&"steal_ns"));
        assert_eq!(support.unsupported.len(), 1);
        assert!(support.resolution_ns.is_empty());
    }
}
