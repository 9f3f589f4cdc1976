//! Buffered files of the C library, `fopen(3)` and `fclose(3)`, by a loop that is compiled at a level.

use crate::outcome::{self, Ended};
use pentathlon_code::{Level, Streams};
use std::ffi::{c_void, CStr};

const STREAMS: Streams = Streams { open, close };

unsafe extern "C" fn open(name: *const c_void, mode: *const c_void) -> *mut c_void {
    // SAFETY: the caller promises two texts.
    unsafe { libc::fopen(name.cast(), mode.cast()).cast() }
}

unsafe extern "C" fn close(stream: *mut c_void) -> i32 {
    // SAFETY: the caller promises an open stream.
    unsafe { libc::fclose(stream.cast()) }
}

/// Opens a file and closes it again, so many times; how often that was done.
#[inline]
pub fn open_close(level: Level, operations: u64, path: &CStr, mode: &CStr) -> Result<u64, Ended> {
    let (name, mode) = (path.as_ptr().cast(), mode.as_ptr().cast());
    // SAFETY: these are a C library's functions, and both strings live to the end of the call.
    outcome::of(unsafe { (level.loops.fopen_fclose)(operations, &STREAMS, name, mode) })
}
