//! The competitor: a workload of the catalog that runs beside the measured one, in processes of
//! its own, again and again until it is stopped. What it managed meanwhile is written down too.

use super::Outcome;
use crate::endpoint::answer::{Batch, Competed, Yield};
use pentathlon_harness::clock::monotonic_ns;
use pentathlon_protocol::catalog::Parameters;
use pentathlon_protocol::{Calibration, Placement, Task};
use pentathlon_session::Worker;
use pentathlon_workloads as workloads;
use serde_json::{json, Map, Value};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Length of a batch: short enough that many fall into the seconds before the flow.
const SAMPLE_MS: f64 = 10.0;
/// Batches of one process; a fresh one follows at once.
const ITERATIONS: u32 = 2;
/// How often a waiting thread looks whether it is over.
const PATIENCE: Duration = Duration::from_millis(5);
/// How long a process may go on to its end, so that what it did is heard of.
const GRACE: Duration = Duration::from_secs(5);

pub struct Competitor {
    task: Task,
    placement: Placement,
    calibration: Calibration,
    epoch_ns: u64,
}

impl Competitor {
    /// `epoch_ns`: what the samples' times count from.
    pub fn new(
        workload: &str,
        parameters: Map<String, Value>,
        placement: Placement,
        calibration: Calibration,
        epoch_ns: u64,
    ) -> Result<Self, String> {
        let Some(found) = workloads::find(workload).filter(|found| found.hosts() == 1) else {
            return Err(format!(
                "'{workload}' cannot compete: it is no workload of one host in this agent's catalog"
            ));
        };
        Parameters::resolve(&found.describe().parameters, &parameters)
            .and_then(|resolved| found.check(&resolved))?;
        let task = json!({
            "id": workload, "parameters": parameters, "iterations": ITERATIONS, "warmup": 0,
            "sample_ms": SAMPLE_MS,
        });
        Ok(Self {
            task: serde_json::from_value(task).map_err(|e| e.to_string())?,
            placement,
            calibration,
            epoch_ns,
        })
    }

    /// Starts one copy.
    pub fn start(&self, copy: u32, scratch: &Path, over: &Arc<AtomicBool>) -> JoinHandle<Outcome> {
        let over = Arc::clone(over);
        let scratch = scratch.join(format!("competitor-{copy}"));
        let (task, placement) = (self.task.clone(), self.placement.clone());
        let (calibration, epoch_ns) = (self.calibration.clone(), self.epoch_ns);
        std::thread::spawn(move || {
            let mut samples = Vec::new();
            let mut reasons = Vec::new();
            let mut runs = 0_u32;
            let from_ns = monotonic_ns();
            while !over.load(Ordering::Relaxed) {
                let mut worker =
                    Worker::start(&task, &placement, &calibration, epoch_ns, &scratch, runs)
                        .map_err(|e| format!("the competitor could not be started: {e}"))?;
                let mut deadline = None;
                while !worker.ended() && deadline.is_none_or(|end| Instant::now() < end) {
                    std::thread::sleep(PATIENCE);
                    if deadline.is_none() && over.load(Ordering::Relaxed) {
                        deadline = Some(Instant::now() + GRACE);
                    }
                }
                for line in worker.finish() {
                    take(&line, copy, &mut samples, &mut reasons);
                }
                runs += 1;
                // One that always fails at once is no load.
                if samples.is_empty() && runs >= 3 {
                    return Err(format!(
                        "the competitor does not run: {}",
                        reasons.first().map_or("no reason given", String::as_str)
                    ));
                }
            }
            Ok(Yield::Compete(Competed {
                copy,
                runs,
                samples,
                errors: reasons,
                elapsed_ns: monotonic_ns() - from_ns,
            }))
        })
    }
}

/// Keeps how fast the competitor was: operations and time of each batch. A batch whose value is no
/// finite number, which JSON cannot hold, is left out.
fn take(line: &str, copy: u32, samples: &mut Vec<Batch>, reasons: &mut Vec<String>) {
    let Ok(event) = serde_json::from_str::<Value>(line) else {
        return;
    };
    match event["event"].as_str() {
        Some("sample") => {
            let batch = serde_json::from_value(event).map(|of_sample| Batch { copy, of_sample });
            samples.extend(batch);
        }
        Some("error") if reasons.len() < 8 => {
            reasons.push(event["reason"].as_str().unwrap_or("").to_owned());
        }
        _ => {}
    }
}
