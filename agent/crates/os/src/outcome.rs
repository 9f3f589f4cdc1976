//! What a loop over calls at an optimisation level came to.

use pentathlon_code::Outcome;
use std::io;

/// The call that failed and ended a loop.
#[derive(Debug)]
pub struct Ended {
    /// Its place in the repetition, from 1 on.
    pub call: u32,
    /// The system's error number after it.
    pub error: io::Error,
}

/// What the loop counted or added up. To be asked at once: the error number is the last call's.
#[inline]
pub fn of(outcome: Outcome) -> Result<u64, Ended> {
    match outcome.failed {
        0 => Ok(outcome.correct),
        call => Err(Ended {
            call,
            error: io::Error::last_os_error(),
        }),
    }
}
