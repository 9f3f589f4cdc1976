//! The catalog as one document.

use super::build;
use pentathlon_harness::{entry, Workload};
use pentathlon_protocol::{catalog, VERSION};
use serde_json::{json, Value};

/// The catalog of these workloads, and of programs beside this one that have already described
/// theirs, as one document.
pub fn document(own: &[&'static dyn Workload], beside: Vec<Value>) -> Value {
    let own = own.iter().map(|workload| entry(*workload));
    json!(catalog::Document {
        protocol: VERSION,
        catalog_version: catalog::VERSION,
        agent: build::this(),
        workloads: own.chain(beside).collect(),
    })
}
