//! File descriptors: `open(2)`, `close(2)`, `unlink(2)`, `pipe(2)`.

use crate::outcome::{self, Ended};
use pentathlon_code::{Files, Level};
use std::ffi::{c_void, CString};
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
#[inline]
pub fn name(text: &str) -> Name {
    CString::new(text).expect("names of files have no NUL")
}

const FILES: Files = Files {
    open,
    close,
    remove,
};

/// With mode 0666 if the file is created.
unsafe extern "C" fn open(name: *const c_void, flags: u32) -> isize {
    // SAFETY: the caller promises a text.
    unsafe { libc::open(name.cast(), flags as Flags, 0o666 as libc::c_uint) as isize }
}

unsafe extern "C" fn close(file: isize) -> i32 {
    // SAFETY: the caller promises an open descriptor.
    unsafe { libc::close(file as i32) }
}

unsafe extern "C" fn remove(name: *const c_void) -> i32 {
    // SAFETY: the caller promises a text.
    unsafe { libc::unlink(name.cast()) }
}

/// Opens a file with exactly these flags and closes it again, so many times; how often that was done.
#[inline]
pub fn open_close(level: Level, operations: u64, path: &Name, flags: Flags) -> Result<u64, Ended> {
    // SAFETY: these are the system's calls, and the path lives to the end of the loop.
    outcome::of(unsafe {
        (level.loops.open_close)(operations, &FILES, path.as_ptr().cast(), flags as u32)
    })
}

/// The same, and the file is removed each time.
#[inline]
pub fn create_delete(
    level: Level,
    operations: u64,
    path: &Name,
    flags: Flags,
) -> Result<u64, Ended> {
    // SAFETY: as above.
    outcome::of(unsafe {
        (level.loops.create_delete)(operations, &FILES, path.as_ptr().cast(), flags as u32)
    })
}

/// A pipe: its end to read from and its end to write to. Programs started later do not get them.
#[inline]
pub fn pipe() -> io::Result<(File, File)> {
    let (reader, writer) = io::pipe()?;
    Ok((OwnedFd::from(reader).into(), OwnedFd::from(writer).into()))
}
