//! sync(2), and what fstrim(8) asks of a file system.

use crate::call::check;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// `struct fstrim_range` of linux/fs.h.
#[repr(C)]
struct Range {
    start: u64,
    length: u64,
    least: u64,
}

/// `_IOWR('X', 121, struct fstrim_range)`.
const FITRIM: libc::c_ulong = 0xC018_5879;

/// Writes everything that waits for a disk.
pub fn sync() {
    rustix::fs::sync();
}

/// Tells the disk under a directory's file system which blocks are free; returns their bytes.
pub fn trim(directory: &Path) -> io::Result<u64> {
    let file = File::open(directory)?;
    let mut range = Range {
        start: 0,
        length: u64::MAX,
        least: 0,
    };
    // SAFETY: the descriptor is open, and the kernel reads and writes one `Range`, which is.
    check(unsafe { libc::ioctl(file.as_raw_fd(), FITRIM as _, &mut range) } >= 0)?;
    Ok(range.length)
}
