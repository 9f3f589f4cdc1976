//! What the catalog entries of this area have in common.

use pentathlon_protocol::catalog::Metric;

pub const CALLS: &str = "venkata2003 §5.1, Fig. 25 and 26";
pub const ONE_CORRECT_CALL: &str = "correct calls per call: 1";

/// The only metric of each of these workloads.
pub fn time(title: &'static str) -> Vec<Metric> {
    vec![Metric::lower("time", title, "ns")]
}
