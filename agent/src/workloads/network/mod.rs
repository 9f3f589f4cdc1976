//! What is measured between two hosts. The endpoints do the work (`crate::endpoint`,
//! `crate::packets`); here stands what the catalog says of it.

mod indicators;
mod parameters;
mod traffic;

pub const WORKLOADS: &[&dyn super::Workload] = &[&traffic::Traffic];
