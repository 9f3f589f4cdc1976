//! The clock of an endpoint: nanoseconds since the endpoint started, on the calibrated clock.
//!
//! It never steps: neither midnight nor a correction of the system's time touches it. Two hosts'
//! timers have nothing in common, unless both count the same machine's counter; the four-timestamp
//! exchange reports how they differ.

use pentathlon_harness::clock::Clock;
use pentathlon_protocol::Calibration;
use std::time::Duration;

/// How close to a due time the thread stops sleeping and starts to spin. A sleeping thread wakes
/// up some tens of microseconds late.
const SPIN_NS: u64 = 60_000;

#[derive(Clone, Copy)]
pub struct Timer {
    clock: Clock,
    epoch: u64,
}

impl Timer {
    pub fn start(calibration: &Calibration) -> Self {
        let clock = Clock::of(calibration);
        Self {
            clock,
            epoch: clock.ticks(),
        }
    }

    /// What the counter said when the timer was 0, and the timer's ns for one step of it.
    pub fn counter(&self) -> (u64, f64) {
        (self.epoch, self.clock.tick_ns())
    }

    #[inline]
    pub fn now_ns(&self) -> u64 {
        self.clock.elapsed_ns(self.epoch, self.clock.ticks()) as u64
    }

    /// Waits until `due_ns`: sleeps first, then spins. Returns the time at the end, which is
    /// `due_ns` or later.
    #[inline]
    pub fn wait_until(&self, due_ns: u64) -> u64 {
        loop {
            let now = self.now_ns();
            if now >= due_ns {
                return now;
            }
            let left = due_ns - now;
            if left > 2 * SPIN_NS {
                std::thread::sleep(Duration::from_nanos(left - SPIN_NS));
            } else {
                std::hint::spin_loop();
            }
        }
    }
}
