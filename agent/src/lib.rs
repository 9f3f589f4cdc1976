//! `pentathlon-agent`: every timed instruction of Pentathlon, the counters read beside it, the
//! inventory of the system under test and the catalog of indicators.
//!
//! The boundary is standard input and output: one JSON request in, JSON lines out
//! (see `docs/protocol.md`).

pub mod build;
#[cfg(all(target_os = "linux", feature = "workloads"))]
pub mod capture;
pub mod catalog;
pub mod clock;
pub mod counters;
#[cfg(feature = "workloads")]
pub mod endpoint;
#[cfg(all(test, feature = "workloads"))]
mod hostile;
pub mod inventory;
#[cfg(feature = "workloads")]
pub mod link;
pub mod measure;
#[cfg(feature = "workloads")]
pub mod network;
pub mod prepare;
pub mod protocol;
pub mod session;
#[allow(unsafe_code)]
pub mod sys;
pub mod workloads;
