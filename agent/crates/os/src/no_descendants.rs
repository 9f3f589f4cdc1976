//! The counterpart of Linux' `descendants`: on other systems like Unix only process groups keep
//! together what a process has started; on Windows a job object ends it.

/// Nothing: whoever is left behind becomes the child of process 1, or is in the job of the process.
pub fn adopt() {}

/// They are not.
pub fn are_found() -> bool {
    false
}

/// Not that this process could know.
pub fn none() -> bool {
    false
}

/// None that this process could know of.
pub fn living(_kept: &[u32]) -> Vec<(u32, String)> {
    Vec::new()
}

/// Nothing.
pub fn end(_kept: &[u32]) {}

/// Nothing.
pub fn end_marked(_name: &str, _value: &str) {}
