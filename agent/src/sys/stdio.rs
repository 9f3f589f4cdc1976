//! Buffered files of the C library: `fopen(3)` and `fclose(3)`.

use std::ffi::CStr;
use std::io;

/// Opens a file and closes it again.
#[inline(always)]
pub fn open_close(path: &CStr, mode: &CStr) -> io::Result<()> {
    // SAFETY: both strings live to the end of the call, and the stream is closed once.
    unsafe {
        let stream = libc::fopen(path.as_ptr(), mode.as_ptr());
        if stream.is_null() || libc::fclose(stream) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
