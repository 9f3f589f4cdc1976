//! What the agent says of its clock.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was found out about the clock before anything was timed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Calibration {
    pub source: Source,
    /// Smallest step seen between two different readings, in ns.
    pub resolution_ns: f64,
    /// Median cost of one reading, in ns.
    pub cost_ns: f64,
    /// No reading was earlier than the one before it.
    pub monotonic: bool,
    pub tsc: Option<Tsc>,
    /// Median cost of the operating system's own monotonic clock, in ns.
    pub os_clock_cost_ns: f64,
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Source {
    #[serde(rename = "tsc")]
    Tsc,
    #[cfg_attr(windows, serde(rename = "QueryPerformanceCounter"))]
    #[cfg_attr(not(windows), serde(rename = "clock_gettime(CLOCK_MONOTONIC)"))]
    Monotonic,
}

/// The time stamp counter, measured against the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Tsc {
    /// CPUID 80000007h EDX[8]: the counter runs at one rate in all power states.
    pub invariant: bool,
    pub hz: f64,
    /// Half-width of the rate's error, relative.
    pub relative_error: f64,
}

impl Calibration {
    /// Shortest batch, in ns, in which the clock's cost and step stay below 0.1 %.
    pub fn shortest_batch_ns(&self) -> f64 {
        1000.0 * self.cost_ns.max(self.resolution_ns)
    }
}
