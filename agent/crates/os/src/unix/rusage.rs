//! CPU time, context switches and page faults of this process: `getrusage(2)`,
//! which rustix does not have.

use crate::call::check;
use std::io;

/// What the kernel has accounted to a process since it started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub user_ns: u64,
    pub system_ns: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
}

/// All threads of this process.
#[inline]
pub fn own() -> io::Result<Usage> {
    usage(libc::RUSAGE_SELF)
}

/// The children that have ended and been waited for, with theirs.
#[inline]
pub fn children() -> io::Result<Usage> {
    usage(libc::RUSAGE_CHILDREN)
}

fn usage(whose: libc::c_int) -> io::Result<Usage> {
    // SAFETY: rusage is plain integers, for which all zeros is a value, and the kernel fills it in.
    let raw = unsafe {
        let mut raw: libc::rusage = std::mem::zeroed();
        check(libc::getrusage(whose, &mut raw) == 0)?;
        raw
    };
    Ok(of(&raw))
}

pub(super) fn of(raw: &libc::rusage) -> Usage {
    Usage {
        user_ns: nanoseconds(raw.ru_utime),
        system_ns: nanoseconds(raw.ru_stime),
        minor_faults: count(raw.ru_minflt),
        major_faults: count(raw.ru_majflt),
        voluntary_switches: count(raw.ru_nvcsw),
        involuntary_switches: count(raw.ru_nivcsw),
    }
}

fn nanoseconds(time: libc::timeval) -> u64 {
    count(time.tv_sec) * 1_000_000_000 + count(time.tv_usec) * 1_000
}

fn count(value: impl TryInto<u64>) -> u64 {
    value.try_into().unwrap_or(0)
}
