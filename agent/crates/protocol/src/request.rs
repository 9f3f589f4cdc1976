//! What the experimenter requests: one JSON document on standard input.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// One session on the system under test: several workloads, in the order given.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub protocol: u32,
    /// Random id of the session (hex); every event of a two-host workload carries it.
    #[serde(default)]
    pub session: String,
    /// Seed of every pseudo-random input.
    #[serde(default)]
    pub seed: u64,
    /// Directory for the workloads' files; the system's temporary directory if absent.
    #[serde(default)]
    pub scratch: Option<PathBuf>,
    /// Directory with the files of commands, only for reading.
    #[serde(default)]
    pub files: Option<PathBuf>,
    /// Whether the first event carries the full inventory.
    #[serde(default)]
    pub inventory: bool,
    #[serde(default)]
    pub placement: Placement,
    /// What is done before the first workload, in this order.
    #[serde(default)]
    pub prepare: Vec<super::prepare::Step>,
    /// What waits for a `Release` after the event `ready`; nothing if absent.
    #[serde(default)]
    pub gate: Option<Gate>,
    /// The file on the system that holds the request, in place of this one. A console loses what
    /// follows a line of more than 4095 bytes.
    #[serde(default)]
    pub at: Option<PathBuf>,
    pub workloads: Vec<Task>,
}

/// What waits until the experimenter lets it begin: each workload, and in it each case.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// Each measured batch waits too, and a part of it is run before it that is not timed: those
    /// of workloads with `buffers` in the catalog, of cases whose buffers, as large as their factors
    /// in bytes, hold at most so many. Each measured run of a command waits as well, whatever the
    /// number. None does if it is absent.
    #[serde(default)]
    pub batches_up_to_bytes: Option<u64>,
}

/// Lets one workload, case or batch of a request with a gate begin: a line on standard input.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The workload's place in the request, as its event `ready` has it.
    pub release: usize,
}

/// Where and with which priority the workloads run. What is absent is left as it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// CPUs that the workloads may run on (`sched_setaffinity(2)`).
    #[serde(default)]
    pub cpus: Option<Vec<usize>>,
    /// `other`, `batch`, `idle`, `fifo` or `rr` (`sched(7)`).
    #[serde(default)]
    pub policy: Option<String>,
    /// Static priority 1..=99 for `fifo` and `rr`.
    #[serde(default)]
    pub priority: Option<i32>,
    /// Nice value -20..=19 (`setpriority(2)`).
    #[serde(default)]
    pub nice: Option<i32>,
}

/// One workload with its parameters and repetitions.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Task {
    pub id: String,
    #[serde(default)]
    pub parameters: Map<String, Value>,
    /// Measured samples per case and process.
    #[serde(default = "default_iterations")]
    pub iterations: u32,
    /// Warm-up samples after the batch has been sized; reported, never averaged in.
    #[serde(default = "default_warmup")]
    pub warmup: u32,
    /// Wanted length of one timed batch in milliseconds.
    #[serde(default = "default_sample_ms")]
    pub sample_ms: f64,
    /// Fresh processes that each repeat the whole workload.
    #[serde(default = "default_processes")]
    pub processes: u32,
    /// A process that takes longer is killed and reported as `timeout`.
    #[serde(default = "default_timeout_s")]
    pub timeout_s: f64,
    /// A command of the user's own, which is then what the workload runs; `parameters` is empty.
    #[serde(default)]
    pub command: Option<super::command::Command>,
    /// Batches that an earlier boot of the same system has sized.
    #[serde(default)]
    pub batches: Vec<SizedBatch>,
}

/// How many operations took `sample_ms` in an earlier boot. The agent times one such batch; if that
/// took about as long, it looks for no other size.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizedBatch {
    pub metric: String,
    pub case: Map<String, Value>,
    pub operations: u64,
}

fn default_iterations() -> u32 {
    5
}
fn default_warmup() -> u32 {
    1
}
fn default_sample_ms() -> f64 {
    5.0
}
fn default_processes() -> u32 {
    1
}
fn default_timeout_s() -> f64 {
    120.0
}

impl Request {
    /// Checks what the types cannot say. The error is one sentence: what, where, what would be right.
    pub fn validate(&self) -> Result<(), String> {
        if self.protocol != super::VERSION {
            return Err(format!(
                "the request speaks protocol {}, this agent speaks {}: use the agent and the experimenter of one release",
                self.protocol,
                super::VERSION
            ));
        }
        for (index, step) in self.prepare.iter().enumerate() {
            step.validate()
                .map_err(|sentence| format!("prepare[{index}]: {sentence}"))?;
        }
        for (index, task) in self.workloads.iter().enumerate() {
            if !(1..=100_000).contains(&task.iterations) {
                return Err(format!(
                    "workloads[{index}].iterations is {}, it must be 1 to 100000",
                    task.iterations
                ));
            }
            if !(1..=1_000).contains(&task.processes) {
                return Err(format!(
                    "workloads[{index}].processes is {}, it must be 1 to 1000",
                    task.processes
                ));
            }
            if task.batches.iter().any(|batch| batch.operations == 0) {
                return Err(format!(
                    "workloads[{index}].batches has one of 0 operations, it must be 1 or more"
                ));
            }
            if task.warmup > 100_000 {
                return Err(format!(
                    "workloads[{index}].warmup is {}, it must be 0 to 100000",
                    task.warmup
                ));
            }
            for (name, value, limit) in [
                ("sample_ms", task.sample_ms, 60_000.0),
                ("timeout_s", task.timeout_s, 86_400.0),
            ] {
                if !(value > 0.0 && value <= limit) {
                    return Err(format!(
                        "workloads[{index}].{name} is {value}, it must be above 0 and at most {limit}"
                    ));
                }
            }
        }
        Ok(())
    }
}
