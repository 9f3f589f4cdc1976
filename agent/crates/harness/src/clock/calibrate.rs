//! Measures resolution, cost and monotonicity of the clocks, and the counter's rate.

use super::monotonic_ns;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use pentathlon_os::tsc;
use pentathlon_protocol::{Calibration, Source, Tsc};

/// Readings per measurement of cost and resolution.
const READINGS: usize = 2_000;
/// The counter's rate is measured against the monotonic clock until it is known this well ...
const GOOD_RATE_ERROR: f64 = 2e-5;
/// ... or for this long, in ns, where one reading of that clock takes microseconds.
const LONGEST_WINDOW_NS: u64 = 60_000_000;
/// A rate known worse than this is not used.
const WORST_RATE_ERROR: f64 = 1e-3;

pub fn measure() -> Calibration {
    let mut notes = Vec::new();
    let os = probe(monotonic_ns, 1.0);
    let tsc = rate(&mut notes);
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if let Some(tsc) = tsc {
        let counter = probe(tsc::read, 1e9 / tsc.hz);
        if counter.monotonic {
            return Calibration {
                source: Source::Tsc,
                resolution_ns: counter.resolution_ns,
                cost_ns: counter.cost_ns,
                monotonic: true,
                tsc: Some(tsc),
                os_clock_cost_ns: os.cost_ns,
                notes,
            };
        }
        notes.push("the time stamp counter ran backwards and is not used".into());
    }
    if !os.monotonic {
        notes.push("the system's monotonic clock ran backwards during calibration".into());
    }
    Calibration {
        source: Source::Monotonic,
        resolution_ns: os.resolution_ns,
        cost_ns: os.cost_ns,
        monotonic: os.monotonic,
        tsc,
        os_clock_cost_ns: os.cost_ns,
        notes,
    }
}

struct Probe {
    resolution_ns: f64,
    cost_ns: f64,
    monotonic: bool,
}

/// Reads a clock many times: the smallest step is its resolution, the median step of whole groups
/// its cost.
fn probe(read: fn() -> u64, tick_ns: f64) -> Probe {
    const GROUP: usize = 20;
    let mut smallest = u64::MAX;
    let mut monotonic = true;
    let mut groups = Vec::with_capacity(READINGS / GROUP);
    let mut last = read();
    for _ in 0..READINGS / GROUP {
        let start = last;
        for _ in 0..GROUP {
            let now = read();
            if now < last {
                monotonic = false;
            } else if now > last {
                smallest = smallest.min(now - last);
            }
            last = now;
        }
        groups.push(last.saturating_sub(start) as f64 * tick_ns / GROUP as f64);
    }
    groups.sort_by(f64::total_cmp);
    let cost_ns = groups[groups.len() / 2];
    Probe {
        // A clock whose reading takes longer than its step shows the cost as its smallest step;
        // that is the finest interval it can resolve.
        resolution_ns: if smallest == u64::MAX {
            LONGEST_WINDOW_NS as f64
        } else {
            smallest as f64 * tick_ns
        },
        cost_ns,
        monotonic,
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn rate(notes: &mut Vec<String>) -> Option<Tsc> {
    notes.push("this architecture's counter is not used".into());
    None
}

/// The counter's rate against CLOCK_MONOTONIC, from two readings of both, each the tightest of
/// many; the width of the brackets bounds the error.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn rate(notes: &mut Vec<String>) -> Option<Tsc> {
    if !tsc::is_invariant() {
        notes.push("the CPU does not promise an invariant time stamp counter".into());
        return None;
    }
    let first = bracket();
    let (ticks, seconds, relative_error) = loop {
        let second = bracket();
        let ticks = (second.middle() - first.middle()).max(1.0);
        let window_ns = second.ns - first.ns;
        let relative_error = (first.width() + second.width()) / 2.0 / ticks;
        if relative_error <= GOOD_RATE_ERROR || window_ns >= LONGEST_WINDOW_NS {
            break (ticks, window_ns as f64 * 1e-9, relative_error);
        }
    };
    if relative_error > WORST_RATE_ERROR {
        notes.push(format!(
            "the time stamp counter's rate is known only to {:.2} % and it is not used",
            relative_error * 100.0
        ));
        return None;
    }
    Some(Tsc {
        invariant: true,
        hz: ticks / seconds,
        relative_error,
    })
}

/// One reading of the monotonic clock between two of the counter.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
struct Bracket {
    before: u64,
    ns: u64,
    after: u64,
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
impl Bracket {
    /// With one step more, since a counter of some MHz may show none between two readings.
    fn width(&self) -> f64 {
        (self.after - self.before + 1) as f64
    }
    fn middle(&self) -> f64 {
        self.before as f64 + (self.after - self.before) as f64 / 2.0
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn bracket() -> Bracket {
    (0..64)
        .map(|_| {
            let before = tsc::read();
            let ns = monotonic_ns();
            let after = tsc::read().max(before);
            Bracket { before, ns, after }
        })
        .min_by_key(|b| b.after - b.before)
        .expect("64 brackets")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_runs_backwards_is_found() {
        use std::sync::atomic::{AtomicU64, Ordering};
        static TICKS: AtomicU64 = AtomicU64::new(0);
        fn broken() -> u64 {
            let n = TICKS.fetch_add(1, Ordering::Relaxed);
            if n == 777 {
                0
            } else {
                n * 10
            }
        }
        assert!(!probe(broken, 1.0).monotonic);
    }

    #[test]
    fn resolution_and_cost_of_a_known_clock_are_found() {
        use std::sync::atomic::{AtomicU64, Ordering};
        static READS: AtomicU64 = AtomicU64::new(0);
        // Costs 5 ns a reading and steps by 100.
        fn coarse() -> u64 {
            READS.fetch_add(1, Ordering::Relaxed) * 5 / 100 * 100
        }
        let probe = probe(coarse, 1.0);
        assert_eq!(probe.resolution_ns, 100.0);
        assert!((probe.cost_ns - 5.0).abs() < 0.5 || probe.cost_ns == 5.0);
        assert!(probe.monotonic);
    }

    #[test]
    fn a_calibrated_clock_agrees_with_the_standard_library() {
        let clock = super::super::Clock::of(&measure());
        let wall = std::time::Instant::now();
        let from = clock.ticks();
        std::thread::sleep(std::time::Duration::from_millis(30));
        let elapsed = clock.elapsed_ns(from, clock.ticks());
        let wall = wall.elapsed().as_nanos() as f64;
        // The two windows nest, so this bounds the rate, not the machine's speed.
        assert!(
            elapsed <= wall * 1.001 && elapsed >= 30e6 * 0.999,
            "{elapsed} of {wall}"
        );
    }
}
