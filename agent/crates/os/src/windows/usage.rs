//! CPU time and page faults of this process: `GetProcessTimes`, `GetProcessMemoryInfo`.

use crate::call::check;
use std::io;
use std::mem::size_of;
use windows_sys::Win32::Foundation::{FILETIME, HANDLE};
use windows_sys::Win32::System::ProcessStatus::{GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetProcessTimes};

/// What the system has accounted to this process since it started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub user_ns: u64,
    pub kernel_ns: u64,
    /// Page faults of both kinds: with and without input or output.
    pub page_faults: u32,
}

/// All threads of this process; children are not counted.
pub fn own() -> io::Result<Usage> {
    // SAFETY: plain call; the handle means this process and is never closed.
    of(unsafe { GetCurrentProcess() }).map(|(usage, _)| usage)
}

/// All threads of a process whose handle is open, and its largest working set, in bytes.
pub(super) fn of(process: HANDLE) -> io::Result<(Usage, u64)> {
    let (mut created, mut ended) = (FILETIME::default(), FILETIME::default());
    let (mut kernel, mut user) = (FILETIME::default(), FILETIME::default());
    let mut memory = PROCESS_MEMORY_COUNTERS::default();
    // SAFETY: every place is valid to write to, and the structure is as long as is said.
    let done = unsafe {
        GetProcessTimes(process, &mut created, &mut ended, &mut kernel, &mut user) != 0
            && GetProcessMemoryInfo(
                process,
                &mut memory,
                size_of::<PROCESS_MEMORY_COUNTERS>() as u32,
            ) != 0
    };
    check(done)?;
    let used = Usage {
        user_ns: nanoseconds(user),
        kernel_ns: nanoseconds(kernel),
        page_faults: memory.PageFaultCount,
    };
    Ok((used, memory.PeakWorkingSetSize as u64))
}

/// A time in units of 100 ns.
#[inline]
pub fn nanoseconds(time: FILETIME) -> u64 {
    (u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)) * 100
}
