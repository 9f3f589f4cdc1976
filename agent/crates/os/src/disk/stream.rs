//! Streams of the C library: `fopen(3)`, `setvbuf(3)`, `fread(3)`, `fwrite(3)`, `fflush(3)`,
//! `fclose(3)`.

use crate::call::check;
use std::ffi::{CStr, CString};
use std::io;
use std::path::Path;

/// An open stream, closed when dropped.
pub struct Stream(*mut libc::FILE);

/// "No buffer" in setvbuf; the C library of Windows counts otherwise.
const UNBUFFERED: libc::c_int = if cfg!(windows) { 4 } else { 2 };

impl Stream {
    /// Opens an existing file, with the library's own buffer or with none.
    pub fn open(path: &Path, write: bool, buffered: bool) -> io::Result<Self> {
        let path = path.to_str().ok_or(io::ErrorKind::InvalidInput)?;
        let path = CString::new(path)?;
        let mode: &CStr = if write { c"r+b" } else { c"rb" };
        // SAFETY: both strings live to the end of the call.
        let stream = unsafe { libc::fopen(path.as_ptr(), mode.as_ptr()) };
        check(!stream.is_null())?;
        let stream = Self(stream);
        // SAFETY: the stream is open and was neither read nor written; no buffer is handed over.
        let unbuffered =
            || unsafe { libc::setvbuf(stream.0, std::ptr::null_mut(), UNBUFFERED, 0) } == 0;
        check(buffered || unbuffered())?;
        Ok(stream)
    }

    /// Reads up to `buffer.len()` bytes; fewer only at the end of the file.
    #[inline]
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // SAFETY: the buffer is valid to write to over its whole length; the stream is open.
        let read = unsafe { libc::fread(buffer.as_mut_ptr().cast(), 1, buffer.len(), self.0) };
        check(read == buffer.len() || !self.failed())?;
        Ok(read)
    }

    /// Hands the whole buffer to the stream.
    #[inline]
    pub fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        // SAFETY: the buffer is valid to read from over its whole length; the stream is open.
        let written = unsafe { libc::fwrite(buffer.as_ptr().cast(), 1, buffer.len(), self.0) };
        check(written == buffer.len())?;
        Ok(written)
    }

    /// Hands what the stream's buffer holds to the system.
    #[inline]
    pub fn flush(&mut self) -> io::Result<()> {
        // SAFETY: the stream is open.
        check(unsafe { libc::fflush(self.0) } == 0)
    }

    fn failed(&self) -> bool {
        // SAFETY: the stream is open.
        unsafe { libc::ferror(self.0) != 0 }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: open, closed once, never used after.
        unsafe { libc::fclose(self.0) };
    }
}
