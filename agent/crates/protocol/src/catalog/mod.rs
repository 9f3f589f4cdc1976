//! The catalog: what can be measured, in which unit, which direction is better, with which
//! parameters, after which document. The agent owns it; nothing repeats it.

mod document;
mod parameters;

pub use document::{Document, Entry, Listed, Role};
pub use parameters::Parameters;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Raised whenever the meaning of a metric or of a default changes.
pub const VERSION: u32 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Higher,
    Lower,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
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
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
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

impl Parameter {
    /// Without unit, limits and choices, which the methods below give it.
    fn new(name: &'static str, kind: Type, default: impl Into<Value>) -> Self {
        Self {
            name,
            kind,
            default: default.into(),
            unit: None,
            minimum: None,
            maximum: None,
            choices: None,
            description: "",
        }
    }

    pub fn integer(name: &'static str, default: u64) -> Self {
        Self::new(name, Type::Integer, default)
    }

    pub fn number(name: &'static str, default: f64) -> Self {
        Self::new(name, Type::Number, default)
    }

    pub fn boolean(name: &'static str, default: bool) -> Self {
        Self::new(name, Type::Boolean, default)
    }

    pub fn text(name: &'static str, default: &str) -> Self {
        Self::new(name, Type::Text, default)
    }

    pub fn integers(name: &'static str, default: &[u64]) -> Self {
        Self::new(name, Type::Integers, default)
    }

    pub fn texts(name: &'static str, default: &[&str]) -> Self {
        Self::new(name, Type::Texts, default)
    }

    /// A list of texts out of `choices`, which are all in it by default.
    pub fn texts_of(name: &'static str, choices: &[&'static str]) -> Self {
        Self::texts(name, choices).choices(choices)
    }

    #[must_use]
    pub fn unit(self, unit: &'static str) -> Self {
        Self {
            unit: Some(unit),
            ..self
        }
    }

    /// Its least and its greatest value, or those of each value of a list.
    #[must_use]
    pub fn limits(self, minimum: f64, maximum: f64) -> Self {
        Self {
            minimum: Some(minimum),
            maximum: Some(maximum),
            ..self
        }
    }

    #[must_use]
    pub fn choices(self, choices: &[&'static str]) -> Self {
        Self {
            choices: Some(choices.to_vec()),
            ..self
        }
    }

    #[must_use]
    pub fn described(self, description: &'static str) -> Self {
        Self {
            description,
            ..self
        }
    }
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
        unit,
        minimum: limits.map(|(least, _)| least),
        maximum: limits.map(|(_, most)| most),
        description,
        ..Parameter::new(name, kind, default)
    }
}

/// A factor that distinguishes the cases of a workload, and how to draw it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
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

    /// A factor whose values are numbers of bytes.
    pub const fn bytes(name: &'static str, title: &'static str) -> Self {
        Self::new(name, title, Some("B"), "log2")
    }

    /// A factor whose values are names, not numbers.
    pub const fn category(name: &'static str, title: &'static str) -> Self {
        Self::new(name, title, None, "category")
    }
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Metric {
    pub id: &'static str,
    pub title: &'static str,
    pub unit: &'static str,
    pub direction: Direction,
}

impl Metric {
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

    /// A metric of which more is better.
    pub const fn higher(id: &'static str, title: &'static str, unit: &'static str) -> Self {
        Self::new(id, title, unit, Direction::Higher)
    }

    /// A metric of which less is better.
    pub const fn lower(id: &'static str, title: &'static str, unit: &'static str) -> Self {
        Self::new(id, title, unit, Direction::Lower)
    }
}

/// A distribution that a workload reports as histograms, and which metrics are derived from it.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Histogram {
    pub id: &'static str,
    pub title: &'static str,
    /// Of the values, which are whole numbers of it.
    pub unit: &'static str,
    pub direction: Direction,
    /// Metric of the workload, and the share of the values that do not exceed its value.
    #[serde(serialize_with = "as_map")]
    #[schemars(with = "BTreeMap<String, f64>")]
    pub quantiles: &'static [(&'static str, f64)],
}

fn as_map<S: serde::Serializer>(
    pairs: &&'static [(&'static str, f64)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().copied())
}

/// How the same work differs between systems.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Semantics {
    pub linux: &'static str,
    pub windows: &'static str,
}

impl Semantics {
    /// Where both systems do the same.
    pub const fn alike(semantics: &'static str) -> Self {
        Self {
            linux: semantics,
            windows: semantics,
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct Workload {
    /// Its area and its name in it, with a dot between.
    pub id: &'static str,
    pub title: &'static str,
    pub summary: &'static str,
    pub source: &'static str,
    pub parameters: Vec<Parameter>,
    pub factors: Vec<Factor>,
    pub metrics: Vec<Metric>,
    pub checksum: &'static str,
    pub semantics: Semantics,
}

impl Workload {
    pub fn area(&self) -> &'static str {
        self.id.split('.').next().unwrap_or_default()
    }

    /// The metric called `id`.
    ///
    /// # Panics
    /// If the workload reports a metric that it does not declare, which is a bug in it.
    pub fn metric(&self, id: &str) -> Metric {
        *self
            .metrics
            .iter()
            .find(|metric| metric.id == id)
            .unwrap_or_else(|| panic!("{} does not declare the metric {id}", self.id))
    }
}
