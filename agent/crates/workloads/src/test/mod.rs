//! Workloads whose answer is known, to test the pipeline with.

mod spin;

use super::Workload;

pub const WORKLOADS: &[&dyn Workload] = &[&spin::Spin];
