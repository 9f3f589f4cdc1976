//! What an endpoint answers: one event for each command, and what the work beside its trials yields.

use super::host::Counted;
use super::jobs::{Line, Probed};
use super::meter::Metered;
use pentathlon_packets::receive::Received;
use pentathlon_packets::send::Sent;
use pentathlon_protocol::{Build, Calibration, ErrorKind, Source};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// An answer as it is written: one line.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Answer", deny_unknown_fields)]
pub struct Answered<'a> {
    #[serde(flatten)]
    pub answer: &'a Answer,
    /// On the endpoint's timer, ns.
    pub t_ns: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "lowercase")]
#[schemars(rename = "AnswerForm")]
pub enum Answer {
    /// The first line: commands are taken from now on.
    Endpoint {
        agent: Box<Build>,
        clock: Box<Calibration>,
        /// Which boot of which kernel; null if the system does not report it.
        kernel: Option<String>,
        timer: TimerSource,
    },
    Ready {
        trial: String,
        flows: Vec<Port>,
        exchange_port: u16,
    },
    Received {
        trial: String,
        flows: Vec<Flow<Received>>,
        /// Null if no flow was announced.
        host: Option<Metered>,
    },
    Sent {
        trial: String,
        flows: Vec<Flow<Sent>>,
        echoes: Vec<Flow<Received>>,
        exchange: Exchanged,
        start_ns: u64,
        announced: bool,
        host: Option<Metered>,
    },
    /// `bytes` bytes of a file follow the line.
    Records {
        trial: String,
        flow: u32,
        kind: &'static str,
        bytes: u64,
    },
    Fetched {
        trial: String,
        files: usize,
    },
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    Addressed {
        interface: String,
        refused: Vec<RefusedAddress>,
    },
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    Clock {
        after_ms: u64,
        to_ns: u64,
    },
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    Forwarding {
        on: bool,
        refused: Vec<RefusedFile>,
    },
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    Tuned {},
    Started {
        job: String,
    },
    #[cfg_attr(not(target_os = "linux"), schemars(with = "Value"), allow(dead_code))]
    Line(Line),
    Stopped {
        job: String,
        elapsed_ns: u64,
        /// One entry for each thread of the work.
        yields: Vec<Yield>,
    },
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    Capturing {
        trial: String,
        interface: String,
    },
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    Captured {
        trial: String,
        /// Frames in the file.
        frames: u64,
        /// Their bytes on the link, without the check sequence.
        bytes: u64,
        /// Frames for which the kernel's ring had no room: the file lacks them.
        dropped: u64,
    },
    Performed {
        /// Null for a program that a signal ended.
        status: Option<i32>,
        timed_out: bool,
        elapsed_ns: u64,
        output: String,
        error: String,
    },
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    Set {
        /// What each setting was.
        before: BTreeMap<String, String>,
        refused: Vec<RefusedSetting>,
    },
    /// Why a command was not obeyed.
    Error {
        kind: ErrorKind,
        /// Null for a command of no trial.
        trial: Option<String>,
        reason: String,
    },
    Done {
        samples: u64,
        errors: u64,
    },
}

/// The counter behind all times of an endpoint.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct TimerSource {
    pub source: Source,
    /// Its reading when the timer was 0.
    pub epoch: u64,
    pub tick_ns: f64,
}

/// Where a flow is received.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Port {
    pub flow: u32,
    pub port: u16,
}

/// What one end of a flow counted.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Flow{T}", deny_unknown_fields)]
pub struct Flow<T> {
    #[serde(flatten)]
    pub counts: T,
    pub flow: u32,
    /// Size of its file of records.
    pub record_bytes: u64,
}

/// How often the clock exchange was answered, or why it failed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Exchanged {
    Answers(u64),
    Failed { failed: String },
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct RefusedAddress {
    pub address: IpAddr,
    pub reason: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct RefusedFile {
    pub file: String,
    pub reason: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct RefusedSetting {
    pub setting: String,
    pub reason: String,
}

/// What one thread of a piece of work made, by the kind of its work.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Yield {
    Soak(Progress),
    Watch(Watched),
    Ping(Pinged),
    Program(Ended),
    Compete(Competed),
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    Emulate(Line),
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    Probe(Probed),
}

/// How far a CPU hog had come.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Progress {
    /// Time, units until then, and CPU time until then, ns; null if it is not known.
    pub progress: Vec<(u64, u64, Option<u64>)>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Watched {
    /// Readings one after the other.
    pub readings: Vec<Reading>,
    /// One over all of their time.
    pub whole: Reading,
}

/// Name of a row -> its numbers, often one for each CPU.
pub type Rows = BTreeMap<String, Vec<u64>>;

/// Differences over one period; null where the system has no such table.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Reading {
    pub from_ns: u64,
    pub to_ns: u64,
    pub host: Counted,
    pub interfaces: Option<Rows>,
    pub softnet: Option<Rows>,
    pub lines: Option<Rows>,
    pub protocols: Option<Rows>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Pinged {
    pub sent: usize,
    /// By request, ns; null where no reply came.
    pub round_trip_ns: Vec<Option<u64>>,
}

/// How a program in the background ended.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Ended {
    /// It ended by itself, before it was stopped.
    pub ended_before: bool,
    pub status: Option<i32>,
    pub output: String,
    pub error: String,
}

/// What one copy of a competitor managed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Competed {
    pub copy: u32,
    /// Processes that it ran in, one after the other.
    pub runs: u32,
    pub samples: Vec<Batch>,
    /// Why some of its batches failed.
    pub errors: Vec<String>,
    pub elapsed_ns: u64,
}

/// A batch of a competitor; its times count from the competitor's start.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Batch {
    pub copy: u32,
    #[serde(flatten)]
    pub of_sample: OfSample,
}

/// What is kept of a sample of a competitor.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct OfSample {
    pub metric: String,
    pub case: Map<String, Value>,
    pub phase: String,
    pub value: f64,
    pub batch: u64,
    pub elapsed_ns: u64,
    pub t_ns: u64,
}
