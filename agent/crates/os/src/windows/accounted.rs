//! A program that was started, its end, and what the system accounted to it: `GetProcessTimes`,
//! `GetProcessMemoryInfo`.

use super::usage::{self, Usage};
use std::io;
use std::os::windows::io::AsRawHandle;
use std::process::Child;
use windows_sys::Win32::Foundation::WAIT_OBJECT_0;
use windows_sys::Win32::System::Threading::{
    GetExitCodeProcess, OpenProcess, TerminateProcess, WaitForSingleObject, INFINITE,
    PROCESS_TERMINATE,
};

/// How a program ended; Windows has no signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Code(i32),
    Signal(i32),
}

/// What was accounted to a program, without its children.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accounted {
    pub usage: Usage,
    /// Largest working set, in bytes.
    pub peak_memory_bytes: u64,
}

/// Waits until a child has ended.
#[inline]
pub fn await_end(child: &Child) -> io::Result<()> {
    // SAFETY: the handle is open.
    match unsafe { WaitForSingleObject(child.as_raw_handle(), INFINITE) } {
        WAIT_OBJECT_0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// What was accounted to a child that has ended.
pub fn collect(child: Child) -> io::Result<(Ending, Accounted)> {
    let mut code = 0;
    // SAFETY: the handle is open, and `code` is valid to write to.
    if unsafe { GetExitCodeProcess(child.as_raw_handle(), &mut code) } == 0 {
        return Err(io::Error::last_os_error());
    }
    let (usage, peak_memory_bytes) = usage::of(child.as_raw_handle())?;
    Ok((
        Ending::Code(code as i32),
        Accounted {
            usage,
            peak_memory_bytes,
        },
    ))
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
