//! How finely a system counts the CPU time of a process.

use std::time::{Duration, Instant};

/// The smallest step in which the CPU time that `cpu_ns` reports is seen to move, in ns; none if it
/// does not move within 50 ms of work.
pub fn clock_step_ns(cpu_ns: impl Fn() -> Option<u64>) -> Option<u64> {
    let start = Instant::now();
    let mut smallest = None;
    let mut last = cpu_ns()?;
    let mut steps = 0;
    while steps < 3 && start.elapsed() < Duration::from_millis(50) {
        let now = cpu_ns()?;
        if now > last {
            let step = now - last;
            smallest = Some(smallest.map_or(step, |least: u64| least.min(step)));
            last = now;
            steps += 1;
        }
    }
    smallest
}
