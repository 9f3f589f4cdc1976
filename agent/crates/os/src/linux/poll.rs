//! Waits until a descriptor is ready: poll(2).

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ready {
    Read,
    /// An error, or an entry in a socket's queue of errors.
    Error,
}

/// Whether the descriptor is ready before `patience` is over.
pub fn wait(descriptor: BorrowedFd<'_>, ready: Ready, patience: Duration) -> io::Result<bool> {
    let mut one = libc::pollfd {
        fd: descriptor.as_raw_fd(),
        events: match ready {
            Ready::Read => libc::POLLIN,
            Ready::Error => 0, // POLLERR is always waited for.
        },
        revents: 0,
    };
    let milliseconds = i32::try_from(patience.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: one entry, as the count says.
    crate::wait::ready(unsafe { libc::poll(&raw mut one, 1, milliseconds) })
}
