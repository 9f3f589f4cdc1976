//! Opening a file with or without the system's cache, and reading and writing at a position.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// How a file is opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct How {
    pub write: bool,
    /// Makes the file if it is not there.
    pub create: bool,
    /// Every write waits until its data are on the device: `O_SYNC`, FILE_FLAG_WRITE_THROUGH.
    pub sync: bool,
    /// Past the system's cache: `O_DIRECT`, FILE_FLAG_NO_BUFFERING.
    pub direct: bool,
    /// For a queue of requests: FILE_FLAG_OVERLAPPED. Other systems know no difference.
    pub queued: bool,
}

impl How {
    pub const READ: Self = Self {
        write: false,
        create: false,
        sync: false,
        direct: false,
        queued: false,
    };
    pub const WRITE: Self = Self {
        write: true,
        ..Self::READ
    };
}

/// Opens a file; a system that has no such flag answers `Unsupported`.
#[inline]
pub fn open(path: &Path, how: How) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(how.write).create(how.create);
    flags(&mut options, how)?;
    options.open(path)
}

#[cfg(target_os = "linux")]
fn flags(options: &mut OpenOptions, how: How) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut flags = 0;
    if how.sync {
        flags |= libc::O_SYNC;
    }
    if how.direct {
        flags |= libc::O_DIRECT;
    }
    options.custom_flags(flags);
    Ok(())
}

#[cfg(all(unix, not(target_os = "linux")))]
fn flags(options: &mut OpenOptions, how: How) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    if how.direct {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "direct input and output is written for Linux and Windows only",
        ));
    }
    options.custom_flags(if how.sync { libc::O_SYNC } else { 0 });
    Ok(())
}

#[cfg(windows)]
fn flags(options: &mut OpenOptions, how: How) -> io::Result<()> {
    use std::os::windows::fs::OpenOptionsExt;
    /// CreateFileW, dwFlagsAndAttributes.
    const WRITE_THROUGH: u32 = 0x8000_0000;
    const NO_BUFFERING: u32 = 0x2000_0000;
    const OVERLAPPED: u32 = 0x4000_0000;
    let mut flags = 0;
    if how.sync {
        flags |= WRITE_THROUGH;
    }
    if how.direct {
        flags |= NO_BUFFERING;
    }
    if how.queued {
        flags |= OVERLAPPED;
    }
    options.custom_flags(flags);
    Ok(())
}

/// One read at a position: pread(2), ReadFile with an offset.
#[inline]
pub fn read_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    #[cfg(unix)]
    {
        std::os::unix::fs::FileExt::read_at(file, buffer, position)
    }
    #[cfg(windows)]
    {
        std::os::windows::fs::FileExt::seek_read(file, buffer, position)
    }
}

/// One write at a position: pwrite(2), WriteFile with an offset.
#[inline]
pub fn write_at(file: &File, buffer: &[u8], position: u64) -> io::Result<usize> {
    #[cfg(unix)]
    {
        std::os::unix::fs::FileExt::write_at(file, buffer, position)
    }
    #[cfg(windows)]
    {
        std::os::windows::fs::FileExt::seek_write(file, buffer, position)
    }
}
