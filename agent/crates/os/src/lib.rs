//! Thin wrappers on system calls and single instructions: the only place of the agent, beside the
//! workloads' kernels and the crate of measured code, with `unsafe` code. Every wrapper checks what it
//! was given and returns errors as values. What nothing times is asked by `rustix`, where that has the
//! call, from functions that are never inlined: the compiler would else lay out the loops of the
//! workloads that use them anew. What is timed, or is part of the workloads by `#[inline]`, goes by way
//! of the C library or an instruction.
//!
//! A module of one system has its counterparts' name and functions on the others.

#![allow(unsafe_code)]

mod bytes;
mod call;
#[cfg(feature = "code")]
pub mod code;
pub mod cpuid;
#[cfg(not(target_os = "linux"))]
#[path = "no_descendants.rs"]
pub mod descendants;
#[cfg(feature = "code")]
pub mod descriptor;
pub mod disk;
mod ending;
pub mod errno;
#[cfg(feature = "code")]
pub mod heap;
#[cfg(feature = "code")]
pub mod outcome;
pub mod region;
#[cfg(feature = "code")]
pub mod stdio;
#[cfg(target_arch = "aarch64")]
#[path = "cntvct.rs"]
pub mod tsc;
#[cfg(target_arch = "x86_64")]
pub mod tsc;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub use linux::*;
#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;
