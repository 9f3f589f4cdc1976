//! The catalog as it is printed.

use super::{Factor, Histogram, Metric, Parameter, Semantics};
use crate::Build;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The whole catalog, one document.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Catalog", deny_unknown_fields)]
pub struct Document {
    pub protocol: u32,
    pub catalog_version: u32,
    pub agent: Build,
    /// As JSON, since a program beside the agent describes its own.
    #[schemars(with = "Vec<Entry>")]
    pub workloads: Vec<Value>,
}

/// A workload: what it declares, and what else is known of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Entry {
    pub id: &'static str,
    pub area: &'static str,
    pub title: &'static str,
    pub summary: &'static str,
    /// The document that it is after.
    pub source: &'static str,
    pub parameters: Vec<Parameter>,
    pub factors: Vec<Factor>,
    pub metrics: Vec<Listed>,
    pub checksum: &'static str,
    pub semantics: Semantics,
    /// It serves the tests and measures nothing of interest.
    pub test_only: bool,
    /// Hosts that it runs between: 1 or 2.
    pub hosts: u8,
    pub histograms: Vec<Histogram>,
    /// Time that one process may take with the default parameters, s; null: the common limit.
    pub timeout_s: Option<f64>,
    /// Its batches can take turns with those of other systems where so many buffers, as large as the
    /// factors of the case in bytes, fit into a cache; 0: they cannot.
    pub buffers: u8,
}

/// A metric in the catalog.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Metric", deny_unknown_fields)]
pub struct Listed {
    #[serde(flatten)]
    pub metric: Metric,
    /// Its value may rightly be zero; left out where it may not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub zero_allowed: bool,
    pub role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "MetricRole")]
pub enum Role {
    /// How fast the work was.
    Performance,
    /// What the work took of the system, or how well another metric is known.
    Context,
}
