//! The boundary: a request in, events out. Nothing else crosses it.

mod event;
mod request;

pub use event::{
    Case, CaseValue, Emitter, ErrorKind, Event, HistogramSample, Opening, Phase, Sample,
};
pub use request::{Placement, Request, Task};

/// Version of the request and of the events.
pub const VERSION: u32 = 1;
