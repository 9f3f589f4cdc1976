//! The link emulator: what a line does to the frames that cross it, between two interfaces of one
//! host. Nothing has to be loaded into the kernel.
//!
//! A direction of the line is a queue (`queue`, `codel`), a clock of its rate (`line`), and the way
//! to the other end (`wire`: loss, delay, jitter, reordering, duplication). Each works on given
//! times and reads no clock, so that a late thread changes none of their decisions. `forwarder` moves
//! the frames, `probe` measures what became of them.

pub mod codel;
pub mod direction;
#[cfg(target_os = "linux")]
pub mod forwarder;
#[cfg(test)]
mod hostile;
pub mod impairments;
pub mod loss_model;
#[cfg(target_os = "linux")]
pub mod probe;
pub mod profile;
pub mod queue;
pub mod statistics;
