//! By how much the kernel may delay this thread's timers to expire them together: `prctl(2)`,
//! PR_SET_TIMERSLACK. Threads started later inherit it; the caller ends or puts it back.

use crate::call::check;
use std::io;

/// The slack of this thread, in ns.
#[inline]
pub fn get() -> io::Result<u64> {
    // SAFETY: plain integers.
    let slack = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK, 0, 0, 0, 0) };
    u64::try_from(slack).map_err(|_| io::Error::last_os_error())
}

/// Sets the slack of this thread, in ns; 0 means the thread's default.
#[inline]
pub fn set(nanoseconds: u64) -> io::Result<()> {
    // SAFETY: plain integers; the kernel takes an unsigned long.
    let result = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, nanoseconds, 0, 0, 0) };
    check(result >= 0)
}
