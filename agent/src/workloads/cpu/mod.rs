//! Workloads of the processor: the CPU suites of PCMark05, 3DMark06, ScienceMark and Super PI, the
//! downhill simplex, and what a scheduler costs.

mod checksum;
mod pi;

use super::Workload;

pub const WORKLOADS: &[&dyn Workload] = &[&pi::Pi];
