//! Workloads of the processor: the CPU suites of PCMark05, 3DMark06, ScienceMark and Super PI, the
//! downhill simplex, and what a scheduler costs.

mod checksum;
mod moldyn;
mod pi;
mod random;
mod simplex;

use super::Workload;

pub const WORKLOADS: &[&dyn Workload] = &[&moldyn::MolDyn, &pi::Pi, &simplex::Simplex];
