//! Which pages of a file the system holds in its cache (`mincore(2)`), and asking it to let go of
//! them (`posix_fadvise(2)`). Nothing but the given file is touched.

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
    let error = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    Ok(())
}

/// Counts the cached pages of the first `bytes` of the file.
#[cfg(target_os = "linux")]
pub fn resident(file: &File, bytes: u64) -> io::Result<Resident> {
    use std::os::fd::AsRawFd;
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
        // SAFETY: a new mapping that is never read, only asked about, and unmapped at once;
        // `answers` has a byte for each of its pages.
        unsafe {
            let start = libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                position as libc::off_t,
            );
            if start == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let result = libc::mincore(start, length, answers.as_mut_ptr());
            let error = io::Error::last_os_error();
            libc::munmap(start, length);
            if result != 0 {
                return Err(error);
            }
        }
        total.pages += pages as u64;
        total.resident += answers.iter().filter(|&&answer| answer & 1 == 1).count() as u64;
        position += length as u64;
    }
    Ok(total)
}
