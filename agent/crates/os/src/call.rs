//! The results of calls to the system.

use std::io;

/// The error that the system keeps for this thread, unless the call was done.
#[inline(always)]
pub fn check(done: bool) -> io::Result<()> {
    if done {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// As [`check`]; a call that a signal interrupts is made again.
#[cfg(unix)]
#[inline(always)]
pub fn check_uninterrupted(mut call: impl FnMut() -> bool) -> io::Result<()> {
    loop {
        match check(call()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// The error whose number a call has answered with; 0 is none.
#[inline(always)]
pub fn numbered(error: i32) -> io::Result<()> {
    match error {
        0 => Ok(()),
        number => Err(io::Error::from_raw_os_error(number)),
    }
}
