//! The same on Windows: modules with the names of their counterparts have their functions.

pub mod adapters;
pub mod child;
pub mod condition;
pub mod descriptor;
pub mod event;
pub mod filesystem;
pub mod futex;
pub mod machine;
pub mod mapping;
pub mod mmap;
pub mod placement;
pub mod process;
pub mod queue;
pub mod registry;
pub mod syscall;
pub mod system;
pub mod time;
pub mod topology;
pub mod usage;
