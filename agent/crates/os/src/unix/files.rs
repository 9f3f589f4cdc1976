//! File descriptors: `open(2)`, `close(2)`, `unlink(2)`.

use pentathlon_code::Files;
use std::ffi::{c_void, CString};
pub use std::os::fd::OwnedFd as Owned;

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

/// Where the name begins.
#[inline]
pub fn start(name: &Name) -> *const c_void {
    name.as_ptr().cast()
}

pub const FILES: Files = Files {
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
