//! What every workload runs in: clock, counters, timed batches, the way out for what they yield.

pub mod clock;
pub mod counters;
mod emitter;
pub mod measure;
mod random;
mod scratch;
mod workload;

pub use emitter::Emitter;
pub use random::Random;
pub use scratch::{also_remove, clear, private_directory, Scratch};
pub use workload::{entry, BetweenHosts, Workload};

/// Stands for the id of the workload that runs a user's own command; no study can name it.
pub const COMMAND: &str = "(command)";

/// Verb of a process that does nothing but end, with [`EXIT_STATUS`]: what starting it costs is
/// what starting this program costs.
pub const EXIT_VERB: &str = "exit";
/// Not 0, and not an error number that execve(2) can give.
pub const EXIT_STATUS: u8 = 42;
