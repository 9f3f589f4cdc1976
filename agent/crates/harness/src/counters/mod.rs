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

use pentathlon_protocol::{Delta, Support};

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
        let reported = Reading(totals(Some(1)));
        let unreported = Reading(totals(None));
        assert_eq!(unreported.delta(&reported), totals(None));
        assert_eq!(reported.delta(&unreported).minor_faults, None);
    }
}
