//! Bandwidth and latency of memory over the block size, from the first cache to main memory.

mod arena;
pub(super) mod available;
mod bandwidth;
pub mod kernels;
mod latency;
mod order;
mod pattern;
mod sizes;
mod smaps;

use super::Workload;

pub const WORKLOADS: &[&dyn Workload] = &[
    &bandwidth::READ,
    &bandwidth::WRITE,
    &bandwidth::COPY,
    &latency::Latency,
];
