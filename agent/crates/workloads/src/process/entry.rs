//! What the catalog entries of this area have in common.

use pentathlon_harness::measure::{Failure, Quantity};
use pentathlon_protocol::catalog::{Direction, Factor, Metric, Parameter, Type};
use serde_json::json;

pub const AREA: &str = "process";
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

/// A list of names.
pub fn texts(
    name: &'static str,
    choices: &'static [&'static str],
    description: &'static str,
) -> Parameter {
    Parameter {
        name,
        kind: Type::Texts,
        default: json!(choices),
        unit: None,
        minimum: None,
        maximum: None,
        choices: Some(choices.to_vec()),
        description,
    }
}

/// The only metric of each of these workloads.
pub fn time(title: &'static str) -> Vec<Metric> {
    vec![Metric {
        id: "time",
        title,
        unit: "ns",
        direction: Direction::Lower,
    }]
}

/// A list of whole numbers.
pub fn integers(
    name: &'static str,
    default: &[u64],
    unit: Option<&'static str>,
    (minimum, maximum): (u64, u64),
    description: &'static str,
) -> Parameter {
    Parameter {
        name,
        kind: Type::Integers,
        default: json!(default),
        unit,
        minimum: Some(minimum as f64),
        maximum: Some(maximum as f64),
        choices: None,
        description,
    }
}

/// A number of bytes that distinguishes cases.
pub fn bytes(name: &'static str, title: &'static str) -> Factor {
    Factor {
        name,
        title,
        unit: Some("B"),
        scale: "log2",
    }
}
