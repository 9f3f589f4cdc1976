//! How a program ended, and what the system accounted to it.

#[cfg(unix)]
use crate::rusage::Usage;
#[cfg(windows)]
use crate::usage::Usage;

/// How a program ended; Windows has no signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Code(i32),
    Signal(i32),
}

#[cfg(unix)]
impl Ending {
    /// `status`: as the kernel gives it (`wait(2)`).
    #[inline(always)]
    pub(crate) fn of(status: i32) -> Self {
        if libc::WIFEXITED(status) {
            Self::Code(libc::WEXITSTATUS(status))
        } else {
            Self::Signal(libc::WTERMSIG(status))
        }
    }
}

/// What was accounted to a program: on Unix with the children that it has waited for, on Windows
/// without its children.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accounted {
    pub usage: Usage,
    /// Largest resident set of one of them, or largest working set, in bytes. On Unix a program
    /// begins as a copy of the one that starts it, so this is never less than what that one had.
    pub peak_memory_bytes: u64,
}
