//! `pentathlon-agent`: every timed instruction of Pentathlon, the counters read beside it, the
//! inventory of the system under test and the catalog of indicators.
//!
//! The boundary is standard input and output: one JSON request in, JSON lines out
//! (see `docs/protocol.md`).

pub mod build;
#[cfg(target_os = "linux")]
pub mod capture;
pub mod catalog;
pub mod clock;
pub mod counters;
pub mod endpoint;
pub mod inventory;
pub mod link;
pub mod measure;
pub mod network;
pub mod prepare;
pub mod protocol;
pub mod session;
pub mod sys;
pub mod workloads;
