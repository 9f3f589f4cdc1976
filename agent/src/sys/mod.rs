//! Thin wrappers on system calls: the only place of the agent, beside the workloads' kernels, with
//! `unsafe` code. Every wrapper checks what it was given and returns errors as values.

#[cfg(target_os = "linux")]
pub mod guest;
pub mod placement;
pub mod process;
pub mod time;
