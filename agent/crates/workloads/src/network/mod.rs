//! What is measured between two hosts. The endpoints do the work (`pentathlon_agent::endpoint`,
//! `pentathlon_packets`); here stands what the catalog says of it.

mod metrics;
mod parameters;
mod traffic;

pub const WORKLOADS: &[&dyn super::Workload] = &[&traffic::Traffic];
