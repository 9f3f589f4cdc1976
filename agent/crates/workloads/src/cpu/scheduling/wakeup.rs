//! `cpu.scheduling.wakeup`: how long a thread that was woken waits until it runs, on an idle
//! system and beside threads that never sleep.

use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{Context, Distribution, Failure};
use pentathlon_harness::Workload;
use pentathlon_protocol::catalog::{self, Direction, Factor, Parameter, Semantics};
use pentathlon_protocol::Case;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

const LOADS: [&str; 2] = ["idle", "busy"];

const LATENCY: catalog::Histogram = catalog::Histogram {
    id: "latency",
    title: "Wake-up latency",
    unit: "ns",
    direction: Direction::Lower,
    quantiles: super::QUANTILES,
};

pub struct WakeUp;

impl Workload for WakeUp {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "cpu.scheduling.wakeup",
            title: "Wake-up latency",
            summary: "One thread reads the clock and wakes another, which reads it as soon as it \
                      runs. Each round is one histogram.",
            source:
                "martinovic2012 §3 (CPU scheduling); after the kernel's schbench and cyclictest",
            parameters: vec![
                Parameter::texts_of("load", &LOADS).described(
                    "idle: nothing else of this workload runs; busy: one thread that never sleeps \
                     for each CPU allowed",
                ),
                Parameter::integer("wakeups", 1000)
                    .limits(1.0, 1e6)
                    .described("wake-ups in one round"),
                Parameter::integer("gap_us", 500)
                    .unit("us")
                    .limits(1.0, 1e6)
                    .described("sleep before each wake-up"),
            ],
            factors: vec![Factor::category("load", "load")],
            metrics: super::quantiles(),
            checksum: "wake-ups in one round",
            semantics: Semantics {
                linux: "futex(2) of the standard library's park and unpark",
                windows: "WaitOnAddress of the standard library's park and unpark",
            },
        }
    }

    fn switches(&self) -> bool {
        true
    }

    fn histograms(&self) -> Vec<catalog::Histogram> {
        vec![LATENCY]
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        super::time_shared()?;
        let parameters = context.parameters.clone();
        let count = parameters.integer("wakeups");
        let gap = Duration::from_micros(parameters.integer("gap_us"));
        for load in parameters.texts("load") {
            let case = Case::new().with("load", load);
            let spinners = if load == "busy" {
                super::allowed()?.len()
            } else {
                0
            };
            context.rounds(&case, |clock, _| {
                let from = clock.ticks();
                let values = latencies(clock, count, gap, spinners)?;
                let elapsed_ns = clock.elapsed_ns(from, clock.ticks());
                Ok(vec![Distribution {
                    of: LATENCY,
                    case: case.clone(),
                    values: values.into_iter().map(|ns| ns as u64).collect(),
                    elapsed_ns,
                    checksum: count,
                }])
            });
        }
        Ok(())
    }
}

/// The times, in ns, from `count` wake-ups to the woken thread's first instruction.
fn latencies(
    clock: &Clock,
    count: u64,
    gap: Duration,
    spinners: usize,
) -> Result<Vec<f64>, Failure> {
    let over = AtomicBool::new(false);
    // Clock at the wake-up; 0 while there is none.
    let called = AtomicU64::new(0);
    let heard = AtomicU64::new(0);
    let values = std::thread::scope(|scope| {
        for _ in 0..spinners {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let sleeper = scope.spawn(|| {
            let mut values = Vec::with_capacity(count as usize);
            while (values.len() as u64) < count && !over.load(Ordering::Acquire) {
                let from = called.load(Ordering::Acquire);
                if from == 0 {
                    std::thread::park();
                    continue;
                }
                values.push(clock.elapsed_ns(from, clock.ticks()));
                called.store(0, Ordering::Release);
                heard.fetch_add(1, Ordering::Release);
            }
            values
        });
        for number in 0..count {
            std::thread::sleep(gap);
            called.store(clock.ticks().max(1), Ordering::Release);
            sleeper.thread().unpark();
            while heard.load(Ordering::Acquire) <= number && !sleeper.is_finished() {
                std::thread::sleep(Duration::from_micros(50));
            }
        }
        let values = sleeper.join();
        over.store(true, Ordering::Release);
        values
    });
    match values {
        Ok(values) if values.len() as u64 == count => Ok(values),
        Ok(values) => Err(Failure::Invalid(format!(
            "{} of {count} wake-ups were heard",
            values.len()
        ))),
        Err(_) => Err(Failure::Failed("the woken thread panicked".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_harness::clock::calibrate;

    #[test]
    fn every_wake_up_is_heard_and_takes_time() {
        let clock = Clock::of(&calibrate());
        for spinners in [0, 2] {
            let values = latencies(&clock, 20, Duration::from_micros(50), spinners).unwrap();
            assert_eq!(values.len(), 20);
            assert!(values.iter().all(|&value| value > 0.0));
        }
    }
}
