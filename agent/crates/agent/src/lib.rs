//! `pentathlon-agent`: every timed instruction of Pentathlon, the counters read beside it, the
//! inventory of the system under test and the catalog of metrics.
//!
//! The boundary is standard input and output: one JSON request in, JSON lines out
//! (see `docs/protocol.md`).

pub mod endpoint;
#[cfg(test)]
mod hostile;
pub mod schema;
