//! Files as the disk workloads use them: how they are opened, which of their pages the system
//! holds in memory, mappings, streams of the C library, and queues of requests.

#[cfg(unix)]
pub mod map;
pub mod open;
pub mod pages;
pub mod place;
pub mod stream;
#[cfg(target_os = "linux")]
pub mod uring;
