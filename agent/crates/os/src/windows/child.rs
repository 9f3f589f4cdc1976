//! Programs started by `CreateProcessW`, waited for and ended.

use crate::call::check;
pub use crate::ending::Ending as Exit;
use crate::outcome::Ended;
use pentathlon_code::Level;
use std::fs::File;
use std::io;
use std::mem::size_of;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use windows_sys::Win32::Foundation::WAIT_OBJECT_0;
use windows_sys::Win32::System::Threading::{
    CreateProcessW, GetCurrentThreadStackLimits, GetExitCodeProcess, TerminateProcess,
    WaitForSingleObject, INFINITE, PROCESS_INFORMATION, STARTUPINFOW,
};

/// A started program that has not been waited for. Dropped, it is ended.
pub struct Child {
    process: OwnedHandle,
    ended: bool,
}

/// There is no such call: always an error of the kind `Unsupported`.
#[inline]
pub fn fork(_work: impl FnOnce() -> u8) -> io::Result<Child> {
    Err(no_fork().error)
}

/// There is no such call: always an error of the kind `Unsupported` in the first call.
#[inline]
pub fn fork_wait(_level: Level, _operations: u64, _status: u8) -> Result<u64, Ended> {
    Err(no_fork())
}

/// As [`fork_wait`].
#[inline]
pub fn forked(
    _level: Level,
    _repetitions: u64,
    _size: usize,
    _pipe: &(File, File),
) -> Result<u64, Ended> {
    Err(no_fork())
}

fn no_fork() -> Ended {
    Ended {
        call: 1,
        error: io::Error::new(
            io::ErrorKind::Unsupported,
            "Windows has no fork; CreateProcess starts a program anew",
        ),
    }
}

/// Starts a program by the name of its file, which ends with NUL, without arguments. It gets no
/// handle of this process.
#[inline(always)]
pub fn start(program: &[u16]) -> io::Result<Child> {
    assert_eq!(program.last(), Some(&0), "the name ends with NUL");
    let startup = STARTUPINFOW {
        cb: size_of::<STARTUPINFOW>() as u32,
        ..Default::default()
    };
    let mut made = PROCESS_INFORMATION::default();
    // SAFETY: the name ends with NUL and lives to the end of the call; the structures are valid.
    // Both handles that a successful call gives are new and ours.
    unsafe {
        let done = CreateProcessW(
            program.as_ptr(),
            std::ptr::null_mut(),
            std::ptr::null(),
            std::ptr::null(),
            0,
            0,
            std::ptr::null(),
            std::ptr::null(),
            &startup,
            &mut made,
        );
        check(done != 0)?;
        drop(OwnedHandle::from_raw_handle(made.hThread));
        Ok(Child {
            process: OwnedHandle::from_raw_handle(made.hProcess),
            ended: false,
        })
    }
}

impl Child {
    /// Waits until the program ends; its exit code.
    #[inline(always)]
    pub fn wait(mut self) -> io::Result<Exit> {
        let mut code = 0;
        // SAFETY: the handle is open, and `code` is valid to write to.
        unsafe {
            check(WaitForSingleObject(self.process.as_raw_handle(), INFINITE) == WAIT_OBJECT_0)?;
            self.ended = true;
            check(GetExitCodeProcess(self.process.as_raw_handle(), &mut code) != 0)?;
        }
        Ok(Exit::Code(code as i32))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.ended {
            // SAFETY: the handle is open.
            unsafe { TerminateProcess(self.process.as_raw_handle(), 1) };
        }
    }
}

/// Bytes that the stack of this thread may grow to.
#[inline]
pub fn stack_limit() -> Option<u64> {
    let (mut low, mut high) = (0, 0);
    // SAFETY: both places are valid to write to.
    unsafe { GetCurrentThreadStackLimits(&mut low, &mut high) };
    high.checked_sub(low).map(|bytes| bytes as u64)
}
