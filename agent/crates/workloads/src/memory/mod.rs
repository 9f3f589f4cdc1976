//! Bandwidth and latency of memory and caches, what the system counts meanwhile, and what code and
//! loops of a growing size cost.

mod after_boot;
mod arena;
pub(super) mod available;
mod bandwidth;
mod blocks;
mod code_plus_data;
mod code_size;
mod faults;
#[allow(unsafe_code)]
pub mod kernels;
mod latency;
mod levels;
mod order;
mod pattern;
mod regions;
mod second_cache;
mod sizes;
mod smaps;
mod sub_looping;
mod worker_blocks;
mod worker_pool;

use super::Workload;

pub const WORKLOADS: &[&dyn Workload] = &[
    &bandwidth::READ,
    &bandwidth::WRITE,
    &bandwidth::COPY,
    &latency::Latency,
    &blocks::Blocks,
    &levels::Levels,
    &after_boot::AfterBoot,
    &faults::Faults,
    &regions::Regions,
    &code_size::CodeSize,
    &code_plus_data::CodePlusData,
    &sub_looping::SubLooping,
];
