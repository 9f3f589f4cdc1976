//! Disk and file systems: the interfaces, orders and phases of Venkatasubramanian 2003 (section
//! 4), the disk tests of Martinovic 2012 (Everest and PCMark05), and what has come since: queues of
//! requests, synchronous writes, and storms of metadata.

mod access;
mod content;
mod entry;
mod file;
mod ground;
mod interface;
mod report;
mod served;
mod sweep;

pub use ground::private as private_directory;

use super::Workload;

pub const WORKLOADS: &[&dyn Workload] = &[&access::Access];
