//! Thin wrappers on system calls: the only place of the agent, beside the workloads' kernels, with
//! `unsafe` code. Every wrapper checks what it was given and returns errors as values.

pub mod cpuid;
#[cfg(target_os = "linux")]
pub mod guest;
#[cfg(target_os = "linux")]
pub mod kernel;
#[cfg(unix)]
pub mod pages;
pub mod placement;
pub mod process;
#[cfg(unix)]
pub mod rusage;
pub mod time;
