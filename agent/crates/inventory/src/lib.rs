//! What the system under test is: its hardware, kernel, settings and drivers, as one tree.
//!
//! Every leaf that the system does not report is `{"unsupported": reason}`: never absent, never a
//! zero. Nothing here names a person or an instance of a device: host names, addresses, serial
//! numbers and user names are not read.

pub mod hypervisor;
#[cfg_attr(not(any(target_os = "linux", windows)), allow(dead_code))]
mod identity;
pub mod leaf;
#[cfg(target_os = "linux")]
pub mod linux;
pub mod source;
#[cfg(windows)]
mod windows;

use serde_json::Value;
use std::path::Path;

/// The inventory of the running system; `scratch` is the directory of the file workloads.
#[cfg(target_os = "linux")]
pub fn collect(scratch: &Path) -> Value {
    linux::collect(&source::Source::system(), scratch)
}

/// The inventory of the running system; `scratch` is the directory of the file workloads.
#[cfg(windows)]
pub fn collect(scratch: &Path) -> Value {
    windows::collect(&source::Source::system(), scratch)
}

/// The inventory of the running system; `scratch` is the directory of the file workloads.
#[cfg(not(any(target_os = "linux", windows)))]
pub fn collect(_scratch: &Path) -> Value {
    leaf::unsupported(format_args!(
        "not collected on {} yet",
        std::env::consts::OS
    ))
}
