//! Files by handles: `CreateFileW`, `CloseHandle`, `DeleteFileW`.

use pentathlon_code::Files;
use std::ffi::c_void;
pub use std::os::windows::io::OwnedHandle as Owned;
use windows_sys::Win32::Foundation::{CloseHandle, GENERIC_READ, GENERIC_WRITE, HANDLE};
use windows_sys::Win32::Storage::FileSystem::{
    CreateFileW, DeleteFileW, FILE_ATTRIBUTE_NORMAL, FILE_FLAG_WRITE_THROUGH, FILE_SHARE_DELETE,
    FILE_SHARE_READ, FILE_SHARE_WRITE, OPEN_ALWAYS, OPEN_EXISTING,
};

/// How a file is opened: one of the first two, with any of the others.
pub type Flags = u32;
pub const READ_ONLY: Flags = 0;
pub const READ_WRITE: Flags = 1;
/// Made if it is not there (OPEN_ALWAYS).
pub const CREATE: Flags = 2;
/// Every write reaches the device before it returns (FILE_FLAG_WRITE_THROUGH).
pub const SYNCHRONOUS: Flags = 4;

/// The name of a file as the system takes it.
pub type Name = Vec<u16>;

#[inline]
pub fn name(text: &str) -> Name {
    text.encode_utf16().chain([0]).collect()
}

/// Where the name begins.
#[inline]
pub fn start(name: &Name) -> *const c_void {
    assert_eq!(name.last(), Some(&0), "the name ends with NUL");
    name.as_ptr().cast()
}

pub const FILES: Files = Files {
    open,
    close,
    remove,
};

unsafe extern "C" fn open(name: *const c_void, flags: u32) -> isize {
    let written = (flags & READ_WRITE) * GENERIC_WRITE;
    let creation = if flags & CREATE != 0 {
        OPEN_ALWAYS
    } else {
        OPEN_EXISTING
    };
    let through = (flags & SYNCHRONOUS) / SYNCHRONOUS * FILE_FLAG_WRITE_THROUGH;
    // SAFETY: the caller promises a name that ends with NUL. INVALID_HANDLE_VALUE is -1.
    unsafe {
        CreateFileW(
            name.cast(),
            GENERIC_READ | written,
            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
            std::ptr::null(),
            creation,
            FILE_ATTRIBUTE_NORMAL | through,
            std::ptr::null_mut(),
        ) as isize
    }
}

unsafe extern "C" fn close(file: isize) -> i32 {
    // SAFETY: the caller promises an open handle.
    i32::from(unsafe { CloseHandle(file as HANDLE) } == 0)
}

unsafe extern "C" fn remove(name: *const c_void) -> i32 {
    // SAFETY: the caller promises a name that ends with NUL.
    i32::from(unsafe { DeleteFileW(name.cast()) } == 0)
}
