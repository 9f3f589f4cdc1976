//! Traffic between two hosts: what is in a packet, when it is due, how it is sent and received,
//! and what is written down of it. Nothing is averaged here: both ends keep one record a packet,
//! which the experimenter joins by sequence.

pub mod exchange;
pub mod flow;
pub mod model;
pub mod packet;
pub mod receive;
pub mod records;
pub mod send;
mod stream;
mod timer;

pub use timer::Timer;
