//! The same on Windows: modules with the names of their counterparts have their functions.

pub mod accounted;
pub mod adapters;
#[cfg(feature = "code")]
pub mod child;
pub mod condition;
pub mod disk_performance;
pub mod event;
#[cfg(feature = "code")]
pub(crate) mod files;
pub mod filesystem;
pub mod futex;
pub mod machine;
pub mod mmap;
pub mod parent;
pub mod placement;
pub mod process;
pub mod registry;
pub mod sessions;
#[cfg(feature = "code")]
pub mod syscall;
pub mod system;
pub mod time;
pub mod topology;
pub mod usage;
