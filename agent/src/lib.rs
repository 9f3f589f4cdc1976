//! `pentathlon-agent`: every timed instruction of Pentathlon, the counters read beside it, the
//! inventory of the system under test and the catalog of indicators.
//!
//! The boundary is standard input and output: one JSON request in, JSON lines out
//! (see `docs/protocol.md`).

#[cfg(feature = "workloads")]
pub mod endpoint;
pub mod harness;
#[cfg(all(test, feature = "workloads"))]
mod hostile;
pub mod inventory;
#[cfg(feature = "workloads")]
pub mod link_emulator;
#[cfg(feature = "workloads")]
pub mod packets;
pub mod protocol;
pub mod session;
#[allow(unsafe_code)]
pub mod sys;
pub mod workloads;
