//! Thin wrappers on system calls: the only place of the agent, beside the workloads' kernels, with
//! `unsafe` code. Every wrapper checks what it was given and returns errors as values.

#[cfg(target_os = "linux")]
pub mod address;
#[cfg(target_os = "linux")]
pub mod block_ring;
#[cfg(target_os = "linux")]
pub mod bpf;
#[cfg(all(unix, feature = "workloads"))]
pub mod child;
#[cfg(feature = "workloads")]
pub mod code;
#[cfg(unix)]
pub mod condition;
pub mod cpuid;
#[cfg(all(unix, feature = "workloads"))]
pub mod descriptor;
pub mod disk;
pub mod errno;
#[cfg(target_os = "linux")]
pub mod ethtool;
#[cfg(target_os = "linux")]
pub mod event;
#[cfg(target_os = "linux")]
pub mod filesystem;
#[cfg(all(unix, not(target_os = "linux")))]
#[path = "filesystem_posix.rs"]
pub mod filesystem;
#[cfg(target_os = "linux")]
pub mod futex;
#[cfg(target_os = "linux")]
pub mod guest;
#[cfg(feature = "workloads")]
pub mod heap;
#[cfg(target_os = "linux")]
pub mod interface;
#[cfg(target_os = "linux")]
pub mod kernel;
#[cfg(unix)]
pub mod mmap;
#[cfg(target_os = "linux")]
pub mod mmsg;
#[cfg(target_os = "linux")]
pub mod namespace;
#[cfg(feature = "workloads")]
pub mod outcome;
#[cfg(target_os = "linux")]
pub mod packet;
#[cfg(unix)]
pub mod pages;
#[cfg(unix)]
pub mod parent;
#[cfg(target_os = "linux")]
pub mod perf;
#[cfg(target_os = "linux")]
pub mod placement;
#[cfg(all(unix, not(target_os = "linux")))]
#[path = "placement_posix.rs"]
pub mod placement;
#[cfg(target_os = "linux")]
pub mod poll;
#[cfg(unix)]
pub mod process;
#[cfg(target_os = "linux")]
pub mod qdisc;
pub mod region;
#[cfg(target_os = "linux")]
pub mod ring;
#[cfg(target_os = "linux")]
pub mod route;
#[cfg(target_os = "linux")]
pub mod routes;
#[cfg(unix)]
pub mod rusage;
#[cfg(unix)]
pub mod signal;
#[cfg(target_os = "linux")]
pub mod socket;
#[cfg(target_os = "linux")]
pub mod stamp;
#[cfg(target_os = "linux")]
pub mod stamps;
#[cfg(target_os = "linux")]
pub mod statfs;
#[cfg(feature = "workloads")]
pub mod stdio;
#[cfg(all(unix, feature = "workloads"))]
pub mod syscall;
#[cfg(unix)]
pub mod thread;
#[cfg(unix)]
pub mod time;
#[cfg(target_os = "linux")]
pub mod timer_slack;
#[cfg(target_os = "linux")]
pub mod trim;
#[cfg(target_arch = "x86_64")]
pub mod tsc;
#[cfg(target_os = "linux")]
pub mod wait;
#[cfg(target_os = "linux")]
pub mod xsk;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub use windows::*;
