//! The clock of every timed batch: the invariant time stamp counter where the CPU has one (on 64-bit
//! ARM the virtual counter, CNTVCT_EL0), else
//! `clock_gettime(CLOCK_MONOTONIC)`, or `QueryPerformanceCounter` on Windows.
//!
//! Under user-mode Linux one `clock_gettime` is an intercepted system call and costs as much as
//! what is measured; the counter costs the same 20 ns on every system of a machine, so all of them
//! are timed alike.

mod calibrate;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use pentathlon_os::tsc;
use pentathlon_protocol::Calibration;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use pentathlon_protocol::Source;
use std::time::Instant;

/// Measures the clocks; takes about 60 ms.
pub use calibrate::measure as calibrate;

/// A calibrated clock: read before and after a batch.
#[derive(Clone, Copy)]
pub struct Clock {
    tick_ns: f64,
    read: fn() -> u64,
}

impl Clock {
    /// The clock that a calibration chose.
    pub fn of(calibration: &Calibration) -> Self {
        match (calibration.source, calibration.tsc) {
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            (Source::Tsc, Some(tsc)) => Self {
                tick_ns: 1e9 / tsc.hz,
                read: tsc::read,
            },
            _ => Self {
                tick_ns: 1.0,
                read: monotonic_ns,
            },
        }
    }

    #[inline]
    pub fn ticks(&self) -> u64 {
        (self.read)()
    }

    /// Nanoseconds of one step of the counter.
    #[inline]
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
#[inline]
pub fn monotonic_ns() -> u64 {
    pentathlon_os::time::monotonic_ns()
}

/// Before anything else looks at a clock: lets this process read the time stamp counter if it was
/// forbidden (PR_SET_TSC). Returns a remark if it was; the error is one sentence.
pub fn permit() -> Result<Option<&'static str>, String> {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    match tsc::permit() {
        Ok(false) => {}
        Ok(true) => {
            return Ok(Some(
                "this process was forbidden the time stamp counter (PR_SET_TSC); it is allowed \
                 now, because every clock of this system may read it",
            ))
        }
        Err(error) => {
            return Err(format!(
                "this process is forbidden the time stamp counter (PR_SET_TSC), which every clock \
                 of this system may read, and it cannot be allowed: {error}; start it without that"
            ))
        }
    }
    Ok(None)
}

/// Wall time of `body` by the standard library's clock; for time-outs, not for samples.
pub fn deadline_after(seconds: f64) -> Instant {
    Instant::now() + std::time::Duration::from_secs_f64(seconds)
}
