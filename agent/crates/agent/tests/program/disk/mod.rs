//! The disk workloads as an experimenter sees them: over the program's standard input and output,
//! with real files.

mod driver;
mod refusals;
mod results;
mod termination;
