//! Waits for files to be readable with a limit in nanoseconds: `ppoll(2)`.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// Whether one of the files can be read before the time is over. A signal ends the wait too.
pub fn readable<const N: usize>(files: [BorrowedFd<'_>; N], limit: Duration) -> io::Result<bool> {
    let mut files = files.map(|file| libc::pollfd {
        fd: file.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    });
    let limit = libc::timespec {
        tv_sec: limit.as_secs() as libc::time_t,
        tv_nsec: limit.subsec_nanos() as libc::c_long,
    };
    // SAFETY: as many descriptors as are counted and a limit, all valid for the call; no mask.
    let ready = unsafe {
        libc::ppoll(
            files.as_mut_ptr(),
            N as libc::nfds_t,
            &limit,
            std::ptr::null(),
        )
    };
    if ready < 0 {
        let error = io::Error::last_os_error();
        return match error.kind() {
            io::ErrorKind::Interrupted => Ok(false),
            _ => Err(error),
        };
    }
    Ok(ready > 0)
}
