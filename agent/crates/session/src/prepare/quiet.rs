//! Waiting for quiet: a time after the boot, and then a stretch in which nothing disturbs.
//!
//! martinovic2012 (Sec. 5.3) waits ten minutes after the boot, because what a system does after it
//! would be measured too. A time alone proves nothing, so the quiet is looked at as well.

use super::Answer;
use pentathlon_protocol::Limits;
use serde_json::{json, Map, Value};
use std::io;
use std::time::Duration;

/// Longest time between two readings. CPU time is counted in ticks of 4 to 10 ms, so a shorter one
/// would see one tick as load.
const STEP_S: f64 = 1.0;

/// What the system reports at one moment; what it does not report is a reason.
#[derive(Debug, Clone)]
pub struct Reading {
    /// Monotonic time, s.
    pub at_s: f64,
    /// Time since the boot, s.
    pub uptime_s: Result<f64, String>,
    /// CPU time of all CPUs spent and passed since the boot, in ticks.
    pub cpu: Result<(u64, u64), String>,
    /// Data moved since the boot, kB.
    pub disk_kb: Result<f64, String>,
    /// Packets since the boot.
    pub packets: Result<u64, String>,
    pub temperature_c: Result<f64, String>,
    pub frequency_khz: Result<f64, String>,
    pub users: Result<u64, String>,
}

/// Why the time between two readings was not quiet. `first` is the reading at the beginning of the
/// stretch so far, for what drifts slowly.
fn disturbances(first: &Reading, before: &Reading, now: &Reading, limits: &Limits) -> Vec<String> {
    let seconds = (now.at_s - before.at_s).max(1e-6);
    let mut found = Vec::new();
    let mut check = |what: &str, value: f64, limit: f64, unit: &str| {
        // Rounded as it is printed, so that a sentence never reads "5 is more than 5".
        if value > limit {
            found.push(format!("{what} {value:.1} {unit} (at most {limit} {unit})"));
        }
    };
    if let (Ok((busy_0, all_0)), Ok((busy_1, all_1))) = (&before.cpu, &now.cpu) {
        let all = all_1.saturating_sub(*all_0);
        if all > 0 {
            let share = 100.0 * busy_1.saturating_sub(*busy_0) as f64 / all as f64;
            check("CPU", share, limits.cpu_percent, "%");
        }
    }
    if let (Ok(a), Ok(b)) = (&before.disk_kb, &now.disk_kb) {
        check(
            "disk",
            (b - a).max(0.0) / seconds,
            limits.disk_kb_per_s,
            "kB/s",
        );
    }
    if let (Ok(a), Ok(b)) = (&before.packets, &now.packets) {
        let rate = b.saturating_sub(*a) as f64 / seconds;
        check("network", rate, limits.network_packets_per_s, "packets/s");
    }
    if let (Ok(a), Ok(b)) = (&first.temperature_c, &now.temperature_c) {
        check(
            "temperature change",
            (b - a).abs(),
            limits.temperature_c,
            "°C",
        );
    }
    if let (Ok(a), Ok(b)) = (&first.frequency_khz, &now.frequency_khz) {
        let change = 100.0 * (b - a).abs() / a.max(1.0);
        check("frequency change", change, limits.frequency_percent, "%");
    }
    if let Ok(users) = now.users {
        check("logged in", users as f64, limits.users as f64, "users");
    }
    found
}

/// Waits until the system is quiet, or the limit is over.
///
/// `read` reads the system, `sleep` waits, `alive` is called after each reading.
pub fn settle(
    limits: &Limits,
    read: &mut dyn FnMut() -> Reading,
    sleep: &mut dyn FnMut(Duration),
    alive: &mut dyn FnMut() -> io::Result<()>,
) -> io::Result<Answer> {
    let start = read();
    let mut now = start.clone();
    while now
        .uptime_s
        .as_ref()
        .is_ok_and(|up| *up < limits.after_boot_s)
    {
        let left = limits.after_boot_s - now.uptime_s.clone().unwrap_or_default();
        sleep(Duration::from_secs_f64(left.clamp(0.01, STEP_S)));
        now = read();
        alive()?;
    }
    let deadline = now.at_s + limits.limit_s;
    let step = Duration::from_secs_f64((limits.quiet_s / 2.0).clamp(0.05, STEP_S));
    let mut first = now.clone();
    let mut last_found: Vec<String> = Vec::new();
    loop {
        sleep(step);
        let next = read();
        alive()?;
        let found = disturbances(&first, &now, &next, limits);
        let quiet_from = first.at_s;
        now = next;
        if !found.is_empty() {
            last_found = found;
            first = now.clone();
        } else if now.at_s - quiet_from >= limits.quiet_s {
            let waited = now.at_s - start.at_s;
            return Ok(Answer {
                outcome: "settled",
                reason: None,
                detail: detail(&now, waited, &last_found),
            });
        }
        if now.at_s >= deadline {
            let waited = now.at_s - start.at_s;
            let why = if last_found.is_empty() {
                "the limit is shorter than the readings took".to_owned()
            } else {
                last_found.join(", ")
            };
            return Ok(Answer {
                outcome: "not settled",
                reason: Some(why),
                detail: detail(&now, waited, &last_found),
            });
        }
    }
}

/// What is kept of a wait: how long, what disturbed last, and what the system does not report.
fn detail(now: &Reading, waited_s: f64, disturbed: &[String]) -> Value {
    let mut silent = Map::new();
    let mut note = |name: &str, reason: Option<&String>| {
        if let Some(reason) = reason {
            silent.insert(name.into(), reason.as_str().into());
        }
    };
    note("uptime", now.uptime_s.as_ref().err());
    note("cpu", now.cpu.as_ref().err());
    note("disk", now.disk_kb.as_ref().err());
    note("network", now.packets.as_ref().err());
    note("temperature", now.temperature_c.as_ref().err());
    note("frequency", now.frequency_khz.as_ref().err());
    note("users", now.users.as_ref().err());
    json!({"waited_s": waited_s, "disturbed_last": disturbed, "unsupported": silent})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits {
            after_boot_s: 0.0,
            quiet_s: 5.0,
            limit_s: 60.0,
            cpu_percent: 5.0,
            disk_kb_per_s: 100.0,
            network_packets_per_s: 50.0,
            temperature_c: 2.0,
            frequency_percent: 5.0,
            users: 0,
        }
    }

    fn still(at_s: f64) -> Reading {
        Reading {
            at_s,
            uptime_s: Ok(at_s),
            cpu: Ok((0, (at_s * 200.0) as u64)),
            disk_kb: Ok(0.0),
            packets: Ok(0),
            temperature_c: Ok(40.0),
            frequency_khz: Ok(3e6),
            users: Ok(0),
        }
    }

    /// Waits on a system whose readings a function of time makes; returns the answer and the time.
    fn wait(limits: &Limits, system: impl Fn(f64) -> Reading) -> (Answer, f64) {
        let clock = std::cell::Cell::new(0.0);
        let answer = settle(
            limits,
            &mut || system(clock.get()),
            &mut |pause| clock.set(clock.get() + pause.as_secs_f64()),
            &mut || Ok(()),
        );
        (answer.unwrap(), clock.get())
    }

    #[test]
    fn a_quiet_system_settles_after_the_quiet_time() {
        let (answer, took) = wait(&limits(), still);
        assert_eq!(answer.outcome, "settled");
        assert!((5.0..6.1).contains(&took), "{took}");
    }

    #[test]
    fn the_time_after_the_boot_is_waited_for_first() {
        let (answer, took) = wait(
            &Limits {
                after_boot_s: 600.0,
                ..limits()
            },
            still,
        );
        assert_eq!(answer.outcome, "settled");
        assert!((605.0..607.0).contains(&took), "{took}");
    }

    #[test]
    fn noise_that_ends_is_waited_for() {
        // Half of the CPU time until second 20.
        let system = |t: f64| Reading {
            cpu: Ok(((t.min(20.0) * 100.0) as u64, (t * 200.0) as u64)),
            ..still(t)
        };
        let (answer, took) = wait(&limits(), system);
        assert_eq!(answer.outcome, "settled");
        assert!((25.0..27.0).contains(&took), "{took}");
        assert_eq!(
            answer.detail["disturbed_last"][0],
            "CPU 50.0 % (at most 5 %)"
        );
    }

    /// Each kind of noise alone, planted for ever, is found and named.
    #[test]
    fn each_kind_of_noise_is_found_and_named() {
        type System = fn(f64) -> Reading;
        let planted: [(&str, System); 6] = [
            ("CPU 10.0 %", |t| Reading {
                cpu: Ok(((t * 20.0) as u64, (t * 200.0) as u64)),
                ..still(t)
            }),
            ("disk 500.0 kB/s", |t| Reading {
                disk_kb: Ok(t * 500.0),
                ..still(t)
            }),
            ("network 80.0 packets/s", |t| Reading {
                packets: Ok((t * 80.0) as u64),
                ..still(t)
            }),
            ("temperature change", |t| Reading {
                temperature_c: Ok(40.0 + t),
                ..still(t)
            }),
            ("frequency change", |t| Reading {
                frequency_khz: Ok(3e6 - t * 6e4),
                ..still(t)
            }),
            ("logged in 2.0 users", |t| Reading {
                users: Ok(2),
                ..still(t)
            }),
        ];
        for (words, system) in planted {
            let (answer, took) = wait(&limits(), system);
            assert_eq!(answer.outcome, "not settled", "{words}");
            let reason = answer.reason.unwrap();
            assert!(
                reason.starts_with(words) && !reason.contains(", "),
                "{reason}"
            );
            assert!((60.0..62.0).contains(&took), "{took}");
        }
    }

    #[test]
    fn what_the_system_does_not_report_is_reported_and_does_not_disturb() {
        let system = |t: f64| Reading {
            temperature_c: Err("no sensor".into()),
            cpu: Err("no /proc/stat".into()),
            ..still(t)
        };
        let (answer, _) = wait(&limits(), system);
        assert_eq!(answer.outcome, "settled");
        assert_eq!(
            answer.detail["unsupported"],
            json!({"cpu": "no /proc/stat", "temperature": "no sensor"})
        );
    }

    #[test]
    fn limits_that_cannot_be_met_are_refused() {
        assert!(limits().validate().is_ok());
        let wrong = Limits {
            quiet_s: 90.0,
            ..limits()
        }
        .validate()
        .unwrap_err();
        assert!(wrong.contains("shorter than its quiet_s"), "{wrong}");
        assert!(Limits {
            cpu_percent: f64::NAN,
            ..limits()
        }
        .validate()
        .is_err());
        assert!(Limits {
            after_boot_s: -1.0,
            ..limits()
        }
        .validate()
        .is_err());
    }
}
