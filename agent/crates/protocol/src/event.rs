//! What the agent says: one JSON object per line on standard output.

use super::build::Build;
use super::catalog::Direction;
use super::clock::Calibration;
use super::command::Execution;
use super::counters::{Delta, Support};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The value of one factor of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CaseValue {
    Integer(u64),
    /// Any other number, such as a fraction; only the parameters of a user's own command have one.
    Number(serde_json::Number),
    Text(String),
}

impl From<u64> for CaseValue {
    fn from(value: u64) -> Self {
        Self::Integer(value)
    }
}

impl From<&str> for CaseValue {
    fn from(value: &str) -> Self {
        Self::Text(value.into())
    }
}

/// The factors that distinguish one metric of a workload from another, in the catalog's order.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
pub struct Case(
    #[schemars(with = "BTreeMap<String, CaseValue>")] pub Vec<(&'static str, CaseValue)>,
);

impl Case {
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn with(mut self, factor: &'static str, value: impl Into<CaseValue>) -> Self {
        self.0.push((factor, value.into()));
        self
    }
}

impl Serialize for Case {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Batch sizing and asked-for warm-up: reported, never averaged in.
    Warmup,
    Measure,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ErrorKind {
    /// The system cannot do it: no permission, no such call, no such counter.
    Unsupported,
    /// It should have worked and did not.
    Failed,
    Timeout,
    /// It ran, and what it yielded is not a measurement (wrong checksum, no work done).
    Invalid,
    /// The request was wrong.
    Request,
}

/// One raw value: one timed batch of one metric.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Sample {
    pub workload: &'static str,
    pub index: usize,
    pub metric: &'static str,
    pub case: Case,
    pub unit: &'static str,
    pub direction: Direction,
    pub phase: Phase,
    pub process: u32,
    pub iteration: u32,
    pub value: f64,
    /// Operations in the timed batch.
    pub batch: u64,
    pub elapsed_ns: u64,
    /// What the workload computed; the same on every system, whatever the batch.
    pub checksum: String,
    pub counters: Delta,
}

/// The raw values of one round, counted in buckets.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct HistogramSample {
    pub workload: &'static str,
    pub index: usize,
    /// Id of the histogram in the workload's catalog entry.
    pub metric: &'static str,
    pub case: Case,
    pub unit: &'static str,
    pub direction: Direction,
    pub phase: Phase,
    pub process: u32,
    pub iteration: u32,
    pub count: u64,
    pub lowest: u64,
    pub highest: u64,
    pub significant_digits: u32,
    /// Greatest value of a bucket and the values in it.
    pub buckets: Vec<(u64, u64)>,
    pub elapsed_ns: u64,
    pub checksum: String,
    pub counters: Delta,
}

/// What a session opens with: who measures, with which clock, on what.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Opening {
    pub session: String,
    pub agent: Build,
    pub clock: Calibration,
    /// The full inventory, if it was requested.
    pub system: Option<Value>,
    /// CPUs, policy and nice value in force.
    pub placement: Value,
    pub telemetry: Support,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    Inventory(Box<Opening>),
    Progress {
        workload: String,
        index: usize,
        count: usize,
        process: u32,
        #[schemars(extend("enum" = ["start", "case", "end"]))]
        state: &'static str,
        case: Option<Case>,
    },
    /// Something of a request with a gate waits for its release: a workload, or a case or a measured
    /// batch of it.
    Ready {
        workload: String,
        index: usize,
        process: u32,
        case: Option<Case>,
        iteration: Option<u32>,
    },
    Sample(Box<Sample>),
    Histogram(Box<HistogramSample>),
    Execution(Box<Execution>),
    /// A step of `prepare`. state: `start`, `waiting` or `end`.
    Step {
        index: usize,
        #[serde(rename = "do")]
        action: &'static str,
        #[schemars(extend("enum" = ["start", "waiting", "end"]))]
        state: &'static str,
        outcome: Option<&'static str>,
        reason: Option<String>,
        seconds: f64,
        detail: Value,
    },
    Counter {
        name: String,
        value: Value,
    },
    /// A small picture of what a workload drew, for a reader to look at.
    Picture {
        workload: &'static str,
        index: usize,
        process: u32,
        case: Case,
        width: u32,
        height: u32,
        /// Base64 (RFC 4648) of a JPEG file.
        jpeg: String,
    },
    Log {
        level: &'static str,
        message: String,
    },
    Error {
        workload: Option<String>,
        index: Option<usize>,
        process: Option<u32>,
        kind: ErrorKind,
        reason: String,
        case: Option<Case>,
    },
    Done {
        samples: u64,
        errors: u64,
    },
}

/// An event as it is written: one line.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Event", deny_unknown_fields)]
pub struct Line<'a> {
    #[serde(flatten)]
    pub event: &'a Event,
    /// Nanoseconds since the agent started, on the system's monotonic clock.
    pub t_ns: u64,
}
