//! A user's own command as a workload: what is run, and what one run of it yields.

use super::counters::Delta;
use super::event::{Case, Phase};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Bytes that a command may write to its standard output, and to its standard error, in one run.
pub const MOST_OUTPUT: u64 = 16 << 20;

/// Bytes of the end of the standard output that are reported; with every byte escaped they still
/// fit into one line.
pub const KEPT_OUTPUT: usize = 2 << 20;

/// The same of the standard error.
pub const KEPT_ERROR: usize = 128 << 10;

/// What is run. Every list of words is a program with its arguments, without a shell; an empty one
/// is nothing.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OwnCommand")]
pub struct Command {
    /// Folder of its files in the request's `files`; null: it has none.
    #[serde(default)]
    pub files: Option<String>,
    /// Once before the first run.
    #[serde(default)]
    pub setup: Vec<String>,
    pub cases: Vec<CommandCase>,
    /// A run that takes longer is ended and reported, s; this holds for each of the programs.
    pub timeout_s: f64,
    /// Whether another exit status than 0 is a value and no failure.
    #[serde(default)]
    pub any_status: bool,
    /// Largest file that it may write, in bytes (`RLIMIT_FSIZE`).
    pub largest_file_bytes: u64,
}

/// One case of a command: its parameters with one value each.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OwnCase")]
pub struct CommandCase {
    #[serde(default)]
    pub case: Map<String, Value>,
    pub command: Vec<String>,
    /// Before each run, outside of the time.
    #[serde(default)]
    pub prepare: Vec<String>,
    /// After each run, outside of the time.
    #[serde(default)]
    pub cleanup: Vec<String>,
}

/// One run of a command, as it was: nothing is taken out of its output here.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Execution {
    pub workload: &'static str,
    pub index: usize,
    pub case: Case,
    pub phase: Phase,
    pub process: u32,
    pub iteration: u32,
    /// From before the start of the program until its end was known, on the monotonic clock.
    pub wall_ns: u64,
    /// Its exit status.
    pub status: i32,
    /// Largest resident set of the program or of one of its children, in bytes; null: the system
    /// does not report it.
    pub peak_memory_bytes: Option<u64>,
    /// The end of its standard output, as UTF-8 with U+FFFD for what is none.
    pub output: String,
    /// All that it wrote there.
    pub output_bytes: u64,
    /// The end of its standard error.
    pub error: String,
    pub error_bytes: u64,
    /// The times, switches and faults are those of the program and its children alone.
    pub counters: Delta,
}
