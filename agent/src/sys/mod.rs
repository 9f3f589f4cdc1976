//! Thin wrappers on system calls: the only place of the agent, beside the workloads' kernels, with
//! `unsafe` code. Every wrapper checks what it was given and returns errors as values.

#[cfg(unix)]
pub mod child;
pub mod cpuid;
#[cfg(unix)]
pub mod descriptor;
#[cfg(target_os = "linux")]
pub mod ethtool;
#[cfg(target_os = "linux")]
pub mod filesystem;
#[cfg(target_os = "linux")]
pub mod guest;
#[cfg(unix)]
pub mod heap;
#[cfg(target_os = "linux")]
pub mod interface;
#[cfg(target_os = "linux")]
pub mod kernel;
#[cfg(unix)]
pub mod pages;
pub mod placement;
pub mod process;
#[cfg(target_os = "linux")]
pub mod qdisc;
pub mod region;
#[cfg(unix)]
pub mod rusage;
#[cfg(target_os = "linux")]
pub mod statfs;
#[cfg(unix)]
pub mod stdio;
#[cfg(target_os = "linux")]
pub mod syscall;
pub mod time;
#[cfg(target_os = "linux")]
pub mod timer_slack;
