//! Which pages of a file the system holds in its cache (`mincore(2)`), and asking it to let go of
//! them (`posix_fadvise(2)`). Nothing but the given file is touched.

#[cfg(target_os = "linux")]
use crate::{
    call::{check, numbered},
    mmap::Mapping,
};
use std::fs::File;
use std::io;

/// Pages of a file, and how many of them are in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resident {
    pub pages: u64,
    pub resident: u64,
}

#[cfg(not(target_os = "linux"))]
#[inline]
pub fn drop_cached(_file: &File) -> io::Result<()> {
    Err(unknown())
}

#[cfg(not(target_os = "linux"))]
#[inline]
pub fn resident(_file: &File, _bytes: u64) -> io::Result<Resident> {
    Err(unknown())
}

#[cfg(not(target_os = "linux"))]
fn unknown() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "this system has no call that reports or drops the cached pages of one file",
    )
}

/// Asks the kernel to drop the clean cached pages of the file: dirty ones must have been written
/// back before.
#[cfg(target_os = "linux")]
#[inline]
pub fn drop_cached(file: &File) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    // SAFETY: plain integers; the descriptor is open as long as `file` is borrowed.
    numbered(unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) })
}

/// Counts the cached pages of the first `bytes` of the file.
#[cfg(target_os = "linux")]
pub fn resident(file: &File, bytes: u64) -> io::Result<Resident> {
    /// Bytes looked at in one call, which needs a byte of memory for each of their pages.
    const STEP: u64 = 1 << 30;
    let page_bytes = crate::kernel::page_bytes().unwrap_or(4096);
    let mut total = Resident {
        pages: 0,
        resident: 0,
    };
    let mut position = 0;
    while position < bytes {
        let length = (bytes - position).min(STEP) as usize;
        let pages = length.div_ceil(page_bytes as usize);
        let mut answers = vec![0u8; pages];
        let mapping = Mapping::of_part(file, position, length, false)?;
        // SAFETY: a mapping that is never read, only asked about; `answers` has a byte for each of
        // its pages.
        check(unsafe { libc::mincore(mapping.start.cast(), length, answers.as_mut_ptr()) } == 0)?;
        total.pages += pages as u64;
        total.resident += answers.iter().filter(|&&answer| answer & 1 == 1).count() as u64;
        position += length as u64;
    }
    Ok(total)
}
