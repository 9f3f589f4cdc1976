//! Workloads of the processor: the CPU suites of PCMark05, 3DMark06, ScienceMark and Super PI, the
//! downhill simplex, and what a scheduler costs.

pub(super) mod checksum;
mod cipher;
mod codecs;
mod corpus;
mod game;
mod math;
mod moldyn;
mod pi;
mod primordia;
mod scheduling;
mod simplex;

use super::Workload;

/// Every workload of the area, in the catalog's order.
pub fn workloads() -> Vec<&'static dyn Workload> {
    const SCIENCE: &[&dyn Workload] = &[
        &cipher::Cipher,
        &game::Game,
        &moldyn::MolDyn,
        &pi::Pi,
        &primordia::Primordia,
        &simplex::Simplex,
    ];
    [codecs::WORKLOADS, SCIENCE, scheduling::WORKLOADS].concat()
}
