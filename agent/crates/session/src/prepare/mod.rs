//! What is done on the system before anything is measured: record its software, run the tasks that
//! it keeps for idle times, wait until it is quiet.
//!
//! The steps are those of the measurement process of martinovic2012 (Sec. 5.3, Fig. 4) and
//! vdovjak2021 (Sec. 4.2, Fig. 1) that happen inside of the system. What a system cannot do is
//! `unsupported` with its reason, and the measurement goes on.

mod idle;
mod quiet;
mod reading;
mod software;
#[cfg(windows)]
mod software_windows;

use pentathlon_protocol::{Event, Step};
use serde_json::{json, Value};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often a wait reports that it goes on, so that its silence is not taken for an end.
const SAY_EVERY: Duration = Duration::from_secs(10);

/// How a step ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// `done`, `unsupported`, `settled` or `not settled`.
    pub outcome: &'static str,
    pub reason: Option<String>,
    pub detail: Value,
}

/// Runs one step and reports to `say` its beginning and its end.
pub fn run(
    step: &Step,
    index: usize,
    scratch: &Path,
    say: &mut dyn FnMut(Event) -> io::Result<()>,
) -> io::Result<()> {
    let start = Instant::now();
    let name = step.name();
    let event = |state, answer: Option<Answer>, seconds| Event::Step {
        index,
        action: name,
        state,
        outcome: answer.as_ref().map(|a| a.outcome),
        reason: answer.as_ref().and_then(|a| a.reason.clone()),
        seconds,
        detail: answer.map_or(Value::Null, |a| a.detail),
    };
    say(event("start", None, 0.0))?;
    let answer = match step {
        Step::Record => software::record(),
        Step::Idle { tasks } => idle::run(tasks, scratch),
        Step::Settle(limits) => {
            let mut stated = Instant::now();
            quiet::settle(
                limits,
                &mut reading::read,
                &mut |pause| std::thread::sleep(pause),
                &mut || {
                    if stated.elapsed() < SAY_EVERY {
                        return Ok(());
                    }
                    stated = Instant::now();
                    say(event("waiting", None, start.elapsed().as_secs_f64()))
                },
            )?
        }
    };
    say(event("end", Some(answer), start.elapsed().as_secs_f64()))
}

/// The answer of a step that this system cannot do.
fn unsupported(reason: impl Into<String>) -> Answer {
    Answer {
        outcome: "unsupported",
        reason: Some(reason.into()),
        detail: json!({}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_protocol::IdleTask;

    #[test]
    fn a_request_names_steps_by_what_they_do() {
        let text = r#"[{"do":"record"},{"do":"idle","tasks":["sync"]},
            {"do":"settle","after_boot_s":0,"quiet_s":1,"limit_s":5,"cpu_percent":5,
             "disk_kb_per_s":100,"network_packets_per_s":50,"temperature_c":2,
             "frequency_percent":5,"users":0}]"#;
        let steps: Vec<Step> = serde_json::from_str(text).unwrap();
        let names: Vec<_> = steps.iter().map(Step::name).collect();
        assert_eq!(names, ["record", "idle", "settle"]);
        assert!(serde_json::from_str::<Step>(r#"{"do":"wait"}"#).is_err());
        assert!(serde_json::from_str::<Step>(r#"{"do":"idle","tasks":["x"]}"#).is_err());
    }

    #[test]
    fn every_step_reports_that_it_begins_and_how_it_ended() {
        let mut seen = Vec::new();
        let step = Step::Idle {
            tasks: vec![IdleTask::Sync],
        };
        run(&step, 3, &std::env::temp_dir(), &mut |event| {
            seen.push(serde_json::to_value(&event).unwrap());
            Ok(())
        })
        .unwrap();
        assert_eq!(seen.len(), 2);
        assert_eq!(
            (&seen[0]["state"], &seen[0]["do"]),
            (&json!("start"), &json!("idle"))
        );
        assert_eq!(
            (&seen[1]["state"], &seen[1]["index"]),
            (&json!("end"), &json!(3))
        );
        assert!(seen[1]["outcome"].is_string());
    }
}
