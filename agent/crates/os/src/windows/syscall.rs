//! The shortest way into the kernel that answers with the process id.

use pentathlon_code::Level;
use windows_sys::Wdk::System::Threading::{NtQueryInformationProcess, ProcessBasicInformation};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

/// PROCESS_BASIC_INFORMATION of winternl.h.
#[repr(C)]
#[derive(Default)]
struct Basic {
    exit_status: isize,
    environment_block: usize,
    affinity_mask: usize,
    base_priority: isize,
    process: usize,
    parent: usize,
}

/// The process id, asked of the kernel every time by `NtQueryInformationProcess`; −1 if it does not
/// answer. `GetCurrentProcessId` reads the process's own memory.
pub extern "C" fn getpid() -> i64 {
    let mut basic = Basic::default();
    // SAFETY: the structure is as long as is said; the length written is not used.
    let status = unsafe {
        NtQueryInformationProcess(
            GetCurrentProcess(),
            ProcessBasicInformation,
            (&raw mut basic).cast(),
            std::mem::size_of::<Basic>() as u32,
            std::ptr::null_mut(),
        )
    };
    if status == 0 {
        basic.process as i64
    } else {
        -1
    }
}

/// Requests the process id so many times, by a loop that is compiled at a level; how often the answer
/// was the expected one.
#[inline]
pub fn getpids(level: Level, operations: u64, expected: i64) -> u64 {
    // SAFETY: the call has no argument and can always be made.
    unsafe { (level.loops.getpid)(operations, getpid, expected).correct }
}
