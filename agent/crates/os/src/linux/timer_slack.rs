//! By how much the kernel may delay this thread's timers to expire them together: `prctl(2)`,
//! PR_SET_TIMERSLACK. Threads started later inherit it; the caller ends or puts it back.

use rustix::thread::{current_timer_slack, set_current_timer_slack};
use std::io;
use std::num::NonZeroU64;

/// The slack of this thread, in ns.
#[inline]
pub fn get() -> io::Result<u64> {
    Ok(current_timer_slack()?)
}

/// Sets the slack of this thread, in ns; 0 means the thread's default.
#[inline]
pub fn set(nanoseconds: u64) -> io::Result<()> {
    Ok(set_current_timer_slack(NonZeroU64::new(nanoseconds))?)
}
