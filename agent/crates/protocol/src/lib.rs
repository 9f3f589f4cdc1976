//! The boundary: what one side says to the other, as data. Nothing else crosses it.

mod build;
pub mod catalog;
mod clock;
pub mod command;
mod counters;
mod event;
mod prepare;
mod request;

pub use build::Build;
pub use clock::{Calibration, Source, Tsc};
pub use counters::{Delta, Support, COUNTERS};
pub use event::{Case, CaseValue, ErrorKind, Event, HistogramSample, Line, Opening, Phase, Sample};
pub use prepare::{IdleTask, Limits, Step};
pub use request::{Gate, Placement, Release, Request, SizedBatch, Task};

/// Version of the request and of the events.
pub const VERSION: u32 = 2;
