//! Waits for files to be readable with a limit in nanoseconds: `ppoll(2)`.

use crate::call::check;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// Whether one of the files can be read before the time is over. A signal ends the wait too.
#[inline]
pub fn readable<const N: usize>(files: [BorrowedFd<'_>; N], limit: Duration) -> io::Result<bool> {
    wait(&mut files.map(pollfd), limit)
}

/// As [`readable`], of any number of files.
#[inline]
pub fn any_readable(files: &[BorrowedFd<'_>], limit: Duration) -> io::Result<bool> {
    let mut files: Vec<_> = files.iter().copied().map(pollfd).collect();
    wait(&mut files, limit)
}

fn pollfd(file: BorrowedFd<'_>) -> libc::pollfd {
    libc::pollfd {
        fd: file.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    }
}

fn wait(files: &mut [libc::pollfd], limit: Duration) -> io::Result<bool> {
    let limit = libc::timespec {
        tv_sec: limit.as_secs() as libc::time_t,
        tv_nsec: limit.subsec_nanos() as libc::c_long,
    };
    // SAFETY: as many descriptors as are counted and a limit, all valid for the call; no mask.
    let ready = unsafe {
        libc::ppoll(
            files.as_mut_ptr(),
            files.len() as libc::nfds_t,
            &limit,
            std::ptr::null(),
        )
    };
    self::ready(ready)
}

/// Whether anything is ready after a wait that ended so; nothing where a signal ended it.
#[inline]
pub(crate) fn ready(count: i32) -> io::Result<bool> {
    match check(count >= 0) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        other => other.map(|()| count > 0),
    }
}
