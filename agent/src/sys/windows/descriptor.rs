//! Files by handles: `CreateFileW`, `CloseHandle`, `DeleteFileW`.

use std::fs::File;
use std::io;
use std::os::windows::io::OwnedHandle;
use windows_sys::Win32::Foundation::{
    CloseHandle, GENERIC_READ, GENERIC_WRITE, INVALID_HANDLE_VALUE,
};
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

pub fn name(text: &str) -> Name {
    text.encode_utf16().chain([0]).collect()
}

/// Opens a file with exactly these flags and closes it again.
#[inline(always)]
pub fn open_close(name: &[u16], flags: Flags) -> io::Result<()> {
    let written = (flags & READ_WRITE) * GENERIC_WRITE;
    let creation = if flags & CREATE != 0 {
        OPEN_ALWAYS
    } else {
        OPEN_EXISTING
    };
    let through = (flags & SYNCHRONOUS) / SYNCHRONOUS * FILE_FLAG_WRITE_THROUGH;
    assert_eq!(name.last(), Some(&0), "the name ends with NUL");
    // SAFETY: the name ends with NUL and lives to the end of the call; the handle is closed once.
    unsafe {
        let handle = CreateFileW(
            name.as_ptr(),
            GENERIC_READ | written,
            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
            std::ptr::null(),
            creation,
            FILE_ATTRIBUTE_NORMAL | through,
            std::ptr::null_mut(),
        );
        if handle == INVALID_HANDLE_VALUE || CloseHandle(handle) == 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Removes a name.
#[inline(always)]
pub fn unlink(name: &[u16]) -> io::Result<()> {
    assert_eq!(name.last(), Some(&0), "the name ends with NUL");
    // SAFETY: the name ends with NUL and lives to the end of the call.
    if unsafe { DeleteFileW(name.as_ptr()) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// An anonymous pipe: its end to read from and its end to write to. Programs started later do not
/// get them.
pub fn pipe() -> io::Result<(File, File)> {
    let (from, to) = io::pipe()?;
    Ok((
        File::from(OwnedHandle::from(from)),
        File::from(OwnedHandle::from(to)),
    ))
}

/// A worker that nobody reads is ended by its supervisor's job object.
pub fn output_is_abandoned() -> bool {
    false
}
