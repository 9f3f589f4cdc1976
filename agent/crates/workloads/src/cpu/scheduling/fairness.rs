//! `cpu.scheduling.fairness`: how two threads that never sleep share one CPU, with equal and with
//! different nice values.

use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{Context, Failure, Reading};
use pentathlon_harness::Workload;
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;
use serde_json::json;
use std::sync::atomic::{AtomicU64, AtomicU8, Ordering};

/// Weights of the nice values −20 to 19 (kernel/sched/core.c, sched_prio_to_weight): each step is
/// a tenth of the CPU between two threads.
const WEIGHTS: [u32; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906, 3121, 2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87,
    70, 56, 45, 36, 29, 23, 18, 15,
];

pub struct Fairness;

impl Workload for Fairness {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "cpu.scheduling.fairness",
            title: "Fairness of CPU shares",
            summary: "Two threads bound to one CPU count units of work for a while, the second \
                      with a higher nice value; how far its share is from the share that its \
                      weight promises.",
            source: "martinovic2012 §3 (CPU scheduling); sched(7), nice values",
            parameters: vec![
                Parameter::integers("nice", &[0, 1, 5, 10])
                    .limits(0.0, 19.0)
                    .described("by how much the second thread is nicer than the first"),
                Parameter::integer("window_ms", 500)
                    .unit("ms")
                    .limits(10.0, 60_000.0)
                    .described("length of one round; a short one sees the slices, not the shares"),
            ],
            factors: vec![Factor::new(
                "nice",
                "difference of nice values",
                None,
                "linear",
            )],
            metrics: vec![Metric::lower(
                "deviation",
                "Deviation from the promised share",
                "percentage points",
            )],
            checksum: "difference of the nice values",
            semantics: Semantics {
                linux: "setpriority(2) of one thread; weights of the completely fair scheduler \
                        and its successor; the shares themselves are a counter",
                windows: "unsupported: priorities are strict there, not weights",
            },
        }
    }

    fn switches(&self) -> bool {
        true
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        super::time_shared()?;
        let cpu = super::bind()?;
        context.log(format!("both threads are bound to CPU {cpu}"));
        let parameters = context.parameters.clone();
        let window_ns = parameters.integer("window_ms") as f64 * 1e6;
        for difference in parameters.integers("nice") {
            let case = Case::new().with("nice", difference);
            let mut shares = Vec::new();
            context.rounds(&case, |clock, _| {
                let from = clock.ticks();
                let (units, promised) = compete(clock, difference as i32, window_ns)?;
                let elapsed_ns = clock.elapsed_ns(from, clock.ticks());
                let share = units[1] as f64 / (units[0] + units[1]) as f64;
                shares.push(json!({"units": units, "share": share, "promised": promised}));
                Ok(vec![Reading {
                    metric: "deviation",
                    case: case.clone(),
                    value: 100.0 * (share - promised).abs(),
                    operations: units[0] + units[1],
                    elapsed_ns,
                    checksum: difference,
                }])
            });
            for (round, mut share) in shares.into_iter().enumerate() {
                share["round"] = json!(round);
                let name = format!("cpu.scheduling.fairness.share[nice={difference}]");
                context.counter(name, share);
            }
        }
        Ok(())
    }
}

/// Units of work done by a thread and by a nicer one on one CPU in the same time, and the share
/// that the second was promised.
fn compete(clock: &Clock, difference: i32, window_ns: f64) -> Result<([u64; 2], f64), Failure> {
    let base = super::nice();
    let promised = promised(base, base + difference)?;
    let arrived = AtomicU8::new(0);
    let start = AtomicU64::new(0);
    let work = |nicer: i32| {
        let made = super::make_nicer(base, nicer);
        // One window for both: it opens when the second is there. Yielding lets it arrive.
        if arrived.fetch_add(1, Ordering::AcqRel) == 1 {
            start.store(clock.ticks().max(1), Ordering::Release);
        }
        while start.load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
        made?;
        let from = start.load(Ordering::Acquire);
        let mut units = 0;
        while clock.elapsed_ns(from, clock.ticks()) < window_ns {
            std::hint::black_box(unit(std::hint::black_box(units)));
            units += 1;
        }
        Ok(units)
    };
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| work(0));
        let second = scope.spawn(|| work(difference));
        (first.join(), second.join())
    });
    let panicked = |_| Failure::Failed("a competing thread panicked".into());
    let units: [u64; 2] = [first.map_err(panicked)??, second.map_err(panicked)??];
    if units[0] + units[1] == 0 {
        return Err(Failure::Invalid("neither thread did anything".into()));
    }
    Ok((units, promised))
}

/// The share of the second of two threads with these nice values.
fn promised(first: i32, second: i32) -> Result<f64, Failure> {
    let weight = |nice: i32| {
        let known = usize::try_from(nice + 20)
            .ok()
            .and_then(|at| WEIGHTS.get(at));
        known.copied().map(f64::from).ok_or_else(|| {
            Failure::Unsupported(format!(
                "this process has nice value {first}, so the other thread would need {nice}, and \
                 19 is the highest"
            ))
        })
    };
    let (first, second) = (weight(first)?, weight(second)?);
    Ok(second / (first + second))
}

/// Some microseconds of work.
fn unit(mut state: u64) -> u64 {
    for _ in 0..2_000 {
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_harness::clock::calibrate;

    #[test]
    fn promised_shares_follow_the_weights() {
        assert_eq!(promised(0, 0), Ok(0.5));
        assert_eq!(promised(0, 5), Ok(335.0 / 1359.0));
        // One step of nice is ten percent of the CPU: 55 to 45.
        for nice in -20..19 {
            let share = promised(nice, nice + 1).unwrap();
            assert!((share - 0.445).abs() < 0.015, "{nice}: {share}");
        }
        assert!(matches!(promised(15, 25), Err(Failure::Unsupported(_))));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn both_threads_work_and_the_nicer_one_is_nicer() {
        let clock = Clock::of(&calibrate());
        let (units, promised) = compete(&clock, 1, 3e6).unwrap();
        assert!(units[0] + units[1] > 0);
        assert!(promised < 0.5);
    }
}
