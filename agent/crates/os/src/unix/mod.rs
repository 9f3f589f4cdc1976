//! What every system like Unix has.

pub mod accounted;
#[cfg(feature = "code")]
pub mod child;
pub mod condition;
#[cfg(feature = "code")]
pub(crate) mod files;
#[cfg(not(target_os = "linux"))]
pub mod filesystem;
pub mod mmap;
pub mod pages;
pub mod parent;
#[cfg(not(target_os = "linux"))]
pub mod placement;
pub mod process;
pub mod rusage;
pub mod signal;
#[cfg(feature = "code")]
pub mod syscall;
pub mod thread;
pub mod time;
