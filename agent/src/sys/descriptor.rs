//! File descriptors: `open(2)`, `close(2)`, `unlink(2)`, `pipe(2)`, `poll(2)`.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

/// How a file is opened: one of the first two, with any of the others.
pub type Flags = i32;
pub const READ_ONLY: Flags = libc::O_RDONLY;
pub const READ_WRITE: Flags = libc::O_RDWR;
/// Made if it is not there.
pub const CREATE: Flags = libc::O_CREAT;
/// Every write reaches the device before it returns.
pub const SYNCHRONOUS: Flags = libc::O_SYNC;

/// The name of a file as the system takes it.
pub type Name = CString;

/// # Panics
/// If there is a NUL in the name.
pub fn name(text: &str) -> Name {
    CString::new(text).expect("names of files have no NUL")
}

/// Opens a file with exactly these flags (and mode 0666 if it is created) and closes it again.
#[inline(always)]
pub fn open_close(path: &CStr, flags: Flags) -> io::Result<()> {
    // SAFETY: the path lives to the end of the call, and the descriptor is closed once.
    unsafe {
        let descriptor = libc::open(path.as_ptr(), flags, 0o666 as libc::c_uint);
        if descriptor < 0 || libc::close(descriptor) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Removes a name.
#[inline(always)]
pub fn unlink(path: &CStr) -> io::Result<()> {
    // SAFETY: the path lives to the end of the call.
    if unsafe { libc::unlink(path.as_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// A pipe: its end to read from and its end to write to. Programs started later do not get them.
pub fn pipe() -> io::Result<(File, File)> {
    let (reader, writer) = io::pipe()?;
    Ok((OwnedFd::from(reader).into(), OwnedFd::from(writer).into()))
}

/// Whether standard output is a pipe that nobody can read any more.
pub fn output_is_abandoned() -> bool {
    let mut output = libc::pollfd {
        fd: 1,
        events: 0,
        revents: 0,
    };
    // SAFETY: one pollfd is given and one is counted; the call returns at once.
    let ready = unsafe { libc::poll(&mut output, 1, 0) };
    ready == 1 && output.revents & libc::POLLERR != 0
}
