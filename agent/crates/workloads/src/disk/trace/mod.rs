//! Traces of file input and output (docs/disk-traces.md): their format, the five that are generated,
//! and their replay.

mod format;
mod generate;
#[cfg(test)]
mod hostile;
mod model;
mod replay;
mod workload;

pub use workload::Trace;
