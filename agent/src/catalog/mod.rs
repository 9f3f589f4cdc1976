//! The catalog: what can be measured, in which unit, which direction is better, with which
//! parameters, after which document. The agent owns it; nothing repeats it.

mod parameters;

pub use parameters::Parameters;

use crate::workloads;
use serde::Serialize;
use serde_json::{json, Value};

/// Raised whenever the meaning of an indicator or of a default changes.
pub const VERSION: u32 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Higher,
    Lower,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Type {
    #[serde(rename = "integer")]
    Integer,
    #[serde(rename = "number")]
    Number,
    #[serde(rename = "boolean")]
    Boolean,
    #[serde(rename = "string")]
    Text,
    #[serde(rename = "list[integer]")]
    Integers,
    #[serde(rename = "list[string]")]
    Texts,
}

/// A parameter of a workload, with its default.
#[derive(Debug, Clone, Serialize)]
pub struct Parameter {
    pub name: &'static str,
    #[serde(rename = "type")]
    pub kind: Type,
    pub default: Value,
    pub unit: Option<&'static str>,
    pub minimum: Option<f64>,
    pub maximum: Option<f64>,
    pub choices: Option<Vec<&'static str>>,
    pub description: &'static str,
}

/// A parameter without choices; `limits` are its least and greatest value.
pub fn parameter(
    name: &'static str,
    kind: Type,
    default: Value,
    unit: Option<&'static str>,
    limits: Option<(f64, f64)>,
    description: &'static str,
) -> Parameter {
    Parameter {
        name,
        kind,
        default,
        unit,
        minimum: limits.map(|(least, _)| least),
        maximum: limits.map(|(_, most)| most),
        choices: None,
        description,
    }
}

/// A factor that distinguishes the cases of a workload, and how to draw it.
#[derive(Debug, Clone, Serialize)]
pub struct Factor {
    pub name: &'static str,
    pub title: &'static str,
    pub unit: Option<&'static str>,
    /// `log2`, `linear` or `category`.
    pub scale: &'static str,
}

impl Factor {
    pub const fn new(
        name: &'static str,
        title: &'static str,
        unit: Option<&'static str>,
        scale: &'static str,
    ) -> Self {
        Self {
            name,
            title,
            unit,
            scale,
        }
    }

    /// A factor whose values are names, not numbers.
    pub const fn category(name: &'static str, title: &'static str) -> Self {
        Self::new(name, title, None, "category")
    }
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Indicator {
    pub id: &'static str,
    pub title: &'static str,
    pub unit: &'static str,
    pub direction: Direction,
}

impl Indicator {
    pub const fn new(
        id: &'static str,
        title: &'static str,
        unit: &'static str,
        direction: Direction,
    ) -> Self {
        Self {
            id,
            title,
            unit,
            direction,
        }
    }
}

/// A distribution that a workload reports as histograms, and which indicators are derived from it.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Histogram {
    pub id: &'static str,
    pub title: &'static str,
    /// Of the values, which are whole numbers of it.
    pub unit: &'static str,
    pub direction: Direction,
    /// Indicator of the workload, and the share of the values that do not exceed its value.
    #[serde(serialize_with = "as_map")]
    pub quantiles: &'static [(&'static str, f64)],
}

fn as_map<S: serde::Serializer>(
    pairs: &&'static [(&'static str, f64)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().copied())
}

/// How the same work differs between systems.
#[derive(Debug, Clone, Serialize)]
pub struct Semantics {
    pub linux: &'static str,
    pub windows: &'static str,
}

#[derive(Debug, Clone, Serialize)]
pub struct Workload {
    pub id: &'static str,
    pub area: &'static str,
    pub title: &'static str,
    pub summary: &'static str,
    pub source: &'static str,
    pub parameters: Vec<Parameter>,
    pub factors: Vec<Factor>,
    pub indicators: Vec<Indicator>,
    pub checksum: &'static str,
    pub semantics: Semantics,
    pub test_only: bool,
}

impl Workload {
    /// The indicator called `id`.
    ///
    /// # Panics
    /// If the workload reports an indicator that it does not declare, which is a bug in it.
    pub fn indicator(&self, id: &str) -> Indicator {
        *self
            .indicators
            .iter()
            .find(|indicator| indicator.id == id)
            .unwrap_or_else(|| panic!("{} does not declare the indicator {id}", self.id))
    }
}

/// The catalog of these workloads, and of programs beside this one that have already described
/// theirs, as one document.
pub fn document(own: &[&'static dyn workloads::Workload], beside: Vec<Value>) -> Value {
    let own = own.iter().map(|workload| entry(*workload));
    json!({
        "protocol": crate::protocol::VERSION,
        "catalog_version": VERSION,
        "agent": crate::build::this(),
        "workloads": own.chain(beside).collect::<Vec<_>>(),
    })
}

/// A workload's entry, in which `zero_allowed` marks the indicators that may be zero, and the role
/// `context` those that say what the work took or how well it is known, and not how fast it was.
fn entry(workload: &dyn workloads::Workload) -> Value {
    let mut entry = json!(workload.describe());
    entry["hosts"] = json!(workload.hosts());
    entry["histograms"] = json!(workload.histograms());
    entry["timeout_s"] = json!(workload.timeout_s());
    for indicator in entry["indicators"].as_array_mut().into_iter().flatten() {
        if workload
            .may_be_zero()
            .iter()
            .any(|id| indicator["id"] == *id)
        {
            indicator["zero_allowed"] = json!(true);
        }
        let context = workload.context().iter().any(|id| indicator["id"] == *id);
        indicator["role"] = json!(if context { "context" } else { "performance" });
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_be_zero_is_marked_and_every_mark_names_an_indicator() {
        for workload in workloads::all() {
            let entry = entry(workload);
            let marked: Vec<&str> = entry["indicators"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|indicator| indicator.get("zero_allowed").is_some())
                .map(|indicator| indicator["id"].as_str().unwrap())
                .collect();
            assert_eq!(marked, workload.may_be_zero(), "{}", entry["id"]);
        }
        let faults = workloads::find("memory.faults").unwrap();
        assert!(!faults.may_be_zero().is_empty());
    }

    #[test]
    fn every_context_indicator_is_marked_and_no_workload_has_nothing_else_by_mistake() {
        for workload in workloads::all() {
            let entry = entry(workload);
            let of = |role: &str| -> Vec<String> {
                entry["indicators"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter(|indicator| indicator["role"] == role)
                    .map(|indicator| indicator["id"].as_str().unwrap().to_owned())
                    .collect()
            };
            assert_eq!(of("context"), workload.context(), "{}", entry["id"]);
            let about_use = ["memory.after_boot", "memory.faults"];
            assert_eq!(
                of("performance").is_empty(),
                about_use.contains(&entry["id"].as_str().unwrap()),
                "{}",
                entry["id"]
            );
        }
    }
}
