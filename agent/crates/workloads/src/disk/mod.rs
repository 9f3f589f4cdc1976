//! Disk and file systems: the interfaces, orders and phases of venkata2003 (§4), the disk tests of
//! martinovic2012 (Everest and PCMark05), and what has come since: queues of
//! requests, synchronous writes, and storms of metadata.

mod access;
mod content;
mod entry;
mod everest;
mod file;
mod interface;
mod latency;
mod metadata;
mod order;
mod phases;
mod queue;
mod report;
mod served;
mod shuffle;
mod source;
mod sweep;
mod sync;
mod trace;
mod workdir;

use super::Workload;

pub const WORKLOADS: &[&dyn Workload] = &[
    &access::Access,
    &order::Order,
    &phases::Phases,
    &everest::Everest::Linear,
    &everest::Everest::Random,
    &everest::Everest::Buffered,
    &everest::Everest::AccessTime,
    &trace::Trace,
    &queue::Queue,
    &sync::Sync,
    &metadata::Metadata,
];
