//! A program that was started, its end, and what the system accounted to it: `GetProcessTimes`,
//! `GetProcessMemoryInfo`.

use super::usage;
use crate::call::check;
pub use crate::ending::{Accounted, Ending};
use std::io;
use std::os::windows::io::AsRawHandle;
use std::process::Child;
use windows_sys::Win32::Foundation::WAIT_OBJECT_0;
use windows_sys::Win32::System::Threading::{
    GetExitCodeProcess, OpenProcess, TerminateProcess, WaitForSingleObject, INFINITE,
    PROCESS_TERMINATE,
};

/// Waits until a child has ended.
#[inline]
pub fn await_end(child: &Child) -> io::Result<()> {
    // SAFETY: the handle is open.
    check(unsafe { WaitForSingleObject(child.as_raw_handle(), INFINITE) } == WAIT_OBJECT_0)
}

/// What was accounted to a child that has ended.
pub fn collect(child: Child) -> io::Result<(Ending, Accounted)> {
    let mut code = 0;
    // SAFETY: the handle is open, and `code` is valid to write to.
    check(unsafe { GetExitCodeProcess(child.as_raw_handle(), &mut code) } != 0)?;
    let (usage, peak_memory_bytes) = usage::of(child.as_raw_handle())?;
    let accounted = Accounted {
        usage,
        peak_memory_bytes,
    };
    Ok((Ending::Code(code as i32), accounted))
}

/// Ends a child.
pub fn kill(id: u32) {
    // SAFETY: plain integers; the handle is closed again.
    unsafe {
        let process = OpenProcess(PROCESS_TERMINATE, 0, id);
        if !process.is_null() {
            TerminateProcess(process, 1);
            windows_sys::Win32::Foundation::CloseHandle(process);
        }
    }
}

/// Windows limits no files.
pub fn limit_files(_bytes: u64) -> io::Result<()> {
    Ok(())
}

/// No program ends so here.
pub const FILE_TOO_LARGE: i32 = -1;

/// There are none.
pub fn signal_name(_signal: i32) -> &'static str {
    "a signal"
}
