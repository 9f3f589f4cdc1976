//! What the catalog entries of this area have in common.

use pentathlon_harness::measure::{Failure, Quantity};
use pentathlon_protocol::catalog::Metric;

pub const CALLS: &str = "venkata2003 §5.1, Fig. 25 and 26";
/// One operation is one call.
pub const PER_CALL: Quantity = Quantity::NsPer { parts: 1.0 };
pub const ONE_CORRECT_CALL: &str = "correct calls per call: 1";

/// What a workload says on a system for which its calls are not written down.
#[cfg_attr(any(unix, windows), allow(dead_code))]
pub fn elsewhere() -> Result<(), Failure> {
    Err(Failure::Unsupported(
        "the calls of this workload are not written down for this system".into(),
    ))
}

/// The only metric of each of these workloads.
pub fn time(title: &'static str) -> Vec<Metric> {
    vec![Metric::lower("time", title, "ns")]
}
