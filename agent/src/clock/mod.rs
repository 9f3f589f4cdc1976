//! The clock of every timed batch: the invariant time stamp counter where the CPU has one, else
//! `clock_gettime(CLOCK_MONOTONIC)`, or `QueryPerformanceCounter` on Windows.
//!
//! Under user-mode Linux one `clock_gettime` is an intercepted system call and costs as much as
//! what is measured; the counter costs the same 20 ns on every system of a machine, so all of them
//! are timed alike.

mod calibrate;

#[cfg(target_arch = "x86_64")]
use crate::sys::tsc;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// What was found out about the clock before anything was timed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    pub source: Source,
    /// Smallest step seen between two different readings, in ns.
    pub resolution_ns: f64,
    /// Median cost of one reading, in ns.
    pub cost_ns: f64,
    /// No reading was earlier than the one before it.
    pub monotonic: bool,
    pub tsc: Option<Tsc>,
    /// Median cost of the operating system's own monotonic clock, in ns.
    pub os_clock_cost_ns: f64,
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    #[serde(rename = "tsc")]
    Tsc,
    #[cfg_attr(windows, serde(rename = "QueryPerformanceCounter"))]
    #[cfg_attr(not(windows), serde(rename = "clock_gettime(CLOCK_MONOTONIC)"))]
    Monotonic,
}

/// The time stamp counter, measured against the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tsc {
    /// CPUID 80000007h EDX[8]: the counter runs at one rate in all power states.
    pub invariant: bool,
    pub hz: f64,
    /// Half-width of the rate's error, relative.
    pub relative_error: f64,
}

impl Calibration {
    /// Measures the clocks; takes about 60 ms.
    pub fn measure() -> Self {
        calibrate::measure()
    }

    pub fn clock(&self) -> Clock {
        match (self.source, self.tsc) {
            #[cfg(target_arch = "x86_64")]
            (Source::Tsc, Some(tsc)) => Clock {
                tick_ns: 1e9 / tsc.hz,
                read: tsc::read,
            },
            _ => Clock {
                tick_ns: 1.0,
                read: monotonic_ns,
            },
        }
    }

    /// Shortest batch, in ns, in which the clock's cost and step stay below 0.1 %.
    pub fn shortest_batch_ns(&self) -> f64 {
        1000.0 * self.cost_ns.max(self.resolution_ns)
    }
}

/// A calibrated clock: read before and after a batch.
#[derive(Clone, Copy)]
pub struct Clock {
    tick_ns: f64,
    read: fn() -> u64,
}

impl Clock {
    #[inline]
    pub fn ticks(&self) -> u64 {
        (self.read)()
    }

    /// Nanoseconds of one step of the counter.
    pub fn tick_ns(&self) -> f64 {
        self.tick_ns
    }

    /// Nanoseconds between two readings; 0 if the second is earlier.
    #[inline]
    pub fn elapsed_ns(&self, from: u64, to: u64) -> f64 {
        to.saturating_sub(from) as f64 * self.tick_ns
    }
}

/// Reading of the operating system's monotonic clock in ns; comparable between processes of one
/// boot.
pub fn monotonic_ns() -> u64 {
    crate::sys::time::monotonic_ns()
}

/// Wall time of `body` by the standard library's clock; for time-outs, not for samples.
pub fn deadline_after(seconds: f64) -> Instant {
    Instant::now() + std::time::Duration::from_secs_f64(seconds)
}
