//! The same on Windows: modules with the names of their counterparts have their functions.

pub mod child;
pub mod descriptor;
pub mod filesystem;
pub mod machine;
pub mod mapping;
pub mod placement;
pub mod process;
pub mod syscall;
pub mod system;
pub mod time;
pub mod usage;
