//! Traffic between two hosts: what is in a packet, when it is due, how it is sent and received,
//! and what is written down of it. Nothing is averaged here: both ends keep one record a packet,
//! which are joined by sequence afterwards.

mod accept;
pub mod batch;
#[cfg(target_os = "linux")]
pub mod capture;
pub mod echoes;
pub mod exchange;
pub mod flow;
pub mod frame;
#[cfg(test)]
mod hostile;
pub mod icmp;
pub mod join;
#[cfg(target_os = "linux")]
pub mod link;
#[cfg(target_os = "linux")]
pub mod live;
#[cfg(target_os = "linux")]
mod merging;
pub mod model;
pub mod packet;
pub mod pktgen;
pub mod receive;
#[cfg(target_os = "linux")]
mod receive_many;
pub mod records;
#[cfg(target_os = "linux")]
mod rings;
pub mod rx;
pub mod send;
#[cfg(target_os = "linux")]
pub mod stamps;
mod stream;
mod timer;
pub mod transport;
pub mod tx;

pub use timer::Timer;
