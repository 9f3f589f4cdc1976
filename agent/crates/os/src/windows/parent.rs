//! What ties a process to the one that started it: a job object.

/// The supervisor's job object ends its workers with it: nothing is to be requested.
pub fn die_with_parent() {}

/// Nothing: the session's own end closes the input here.
pub fn outlive_signals() {}

/// A worker that nobody reads is ended by its supervisor's job object.
pub fn output_is_abandoned() -> bool {
    false
}
