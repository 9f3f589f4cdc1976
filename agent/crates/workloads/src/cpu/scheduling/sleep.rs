//! `cpu.scheduling.sleep`: by how much a thread that asked to sleep oversleeps, with the timer
//! slack that threads have and with the least.

use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{Context, Distribution, Failure};
use pentathlon_harness::Workload;
use pentathlon_protocol::catalog::{self, Direction, Factor, Parameter, Semantics};
use pentathlon_protocol::Case;
use std::time::Duration;

const SLACKS: [&str; 2] = ["default", "least"];

const OVERSLEPT: catalog::Histogram = catalog::Histogram {
    id: "overslept",
    title: "Time overslept",
    unit: "ns",
    direction: Direction::Lower,
    quantiles: super::QUANTILES,
};

pub struct Sleep;

impl Workload for Sleep {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "cpu.scheduling.sleep",
            title: "Timer slack",
            summary: "Sleeps again and again; the time beyond what was asked. Each round is one \
                      histogram.",
            source: "martinovic2012 §3 (CPU scheduling); prctl(2), PR_SET_TIMERSLACK",
            parameters: vec![
                Parameter::integers("sleep_us", &[100, 1000])
                    .unit("us")
                    .limits(1.0, 1e6)
                    .described("length of the sleep asked for"),
                Parameter::texts_of("slack", &SLACKS)
                    .described("default: what threads have (50 us on Linux); least: 1 ns"),
                Parameter::integer("sleeps", 100)
                    .limits(1.0, 1e6)
                    .described("sleeps in one round"),
            ],
            factors: vec![
                Factor::new("sleep_us", "sleep", Some("us"), "log2"),
                Factor::category("slack", "timer slack"),
            ],
            metrics: super::quantiles(),
            checksum: "sleeps in one round",
            semantics: Semantics {
                linux: "clock_nanosleep(2) of the standard library; prctl(2) sets the slack of \
                        the sleeping thread alone",
                windows: "waitable timer of the standard library; the least slack is unsupported",
            },
        }
    }

    fn switches(&self) -> bool {
        true
    }

    fn histograms(&self) -> Vec<catalog::Histogram> {
        vec![OVERSLEPT]
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let parameters = context.parameters.clone();
        let count = parameters.integer("sleeps");
        for microseconds in parameters.integers("sleep_us") {
            for slack in parameters.texts("slack") {
                let case = Case::new()
                    .with("sleep_us", microseconds)
                    .with("slack", slack);
                let requested = Duration::from_micros(microseconds);
                context.rounds(&case, |clock, _| {
                    let from = clock.ticks();
                    let values = overslept(clock, count, requested, slack == "least")?;
                    let elapsed_ns = clock.elapsed_ns(from, clock.ticks());
                    Ok(vec![Distribution {
                        of: OVERSLEPT,
                        case: case.clone(),
                        // What the two clocks differ by can be below nothing; nothing is meant.
                        values: values.into_iter().map(|ns| ns.max(0.0) as u64).collect(),
                        elapsed_ns,
                        checksum: count,
                    }])
                });
            }
        }
        Ok(())
    }
}

/// The times, in ns, by which `count` sleeps of a thread of their own were too long.
fn overslept(
    clock: &Clock,
    count: u64,
    requested: Duration,
    least: bool,
) -> Result<Vec<f64>, Failure> {
    let sleeper = || {
        if least {
            least_slack()?;
        }
        let wanted = requested.as_nanos() as f64;
        let mut values = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let from = clock.ticks();
            std::thread::sleep(requested);
            values.push(clock.elapsed_ns(from, clock.ticks()) - wanted);
        }
        Ok(values)
    };
    // The slack is the thread's own, and ends with it.
    let values = std::thread::scope(|scope| scope.spawn(sleeper).join());
    let values = values.map_err(|_| Failure::Failed("the sleeping thread panicked".into()))??;
    // The clocks may differ by their calibration, a thousandth; more is a sleep that was not.
    let short = values
        .iter()
        .filter(|&&v| v < -1e-3 * requested.as_nanos() as f64)
        .count();
    if short > 0 {
        return Err(Failure::Invalid(format!(
            "{short} of {count} sleeps ended before their time"
        )));
    }
    Ok(values)
}

#[cfg(target_os = "linux")]
fn least_slack() -> Result<(), Failure> {
    use pentathlon_os::timer_slack;
    // A value that every kernel with timer slack takes: a refusal means that it has none.
    timer_slack::set(1).map_err(|error| {
        Failure::Unsupported(format!(
            "the system does not let a thread set its timer slack (prctl PR_SET_TIMERSLACK): {error}"
        ))
    })?;
    match timer_slack::get() {
        Ok(1) => Ok(()),
        Ok(other) => Err(Failure::Unsupported(format!(
            "the system left the timer slack at {other} ns when asked for 1 ns"
        ))),
        Err(error) => Err(Failure::system("reading the timer slack", &error)),
    }
}

#[cfg(not(target_os = "linux"))]
fn least_slack() -> Result<(), Failure> {
    Err(Failure::Unsupported(
        "this system has no timer slack to set".into(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_harness::clock::calibrate;

    #[test]
    fn no_sleep_is_shorter_than_asked() {
        let clock = Clock::of(&calibrate());
        let values = overslept(&clock, 5, Duration::from_micros(200), false).unwrap();
        assert_eq!(values.len(), 5);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_least_slack_is_the_sleeping_threads_alone() {
        let before = pentathlon_os::timer_slack::get().unwrap();
        let clock = Clock::of(&calibrate());
        overslept(&clock, 2, Duration::from_micros(50), true).unwrap();
        assert_eq!(pentathlon_os::timer_slack::get().unwrap(), before);
        std::thread::spawn(|| {
            least_slack().unwrap();
            assert_eq!(pentathlon_os::timer_slack::get().unwrap(), 1);
        })
        .join()
        .unwrap();
    }
}
