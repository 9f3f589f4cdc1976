//! The file system under a directory, on Unix systems other than Linux, where it is reported by calls of
//! their own, which are not written.

use std::io;
use std::path::Path;

/// The kind of the file system that `directory` lies on.
pub fn kind(_directory: &Path) -> io::Result<String> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "the kind of a file system is read on Linux and Windows only",
    ))
}

/// Whether the file system that `directory` lies on is mounted so that no program can be started
/// from it (`noexec`). POSIX reports `nosuid` alone, so a refusal shows when a program is started.
pub fn forbids_execution(directory: &Path) -> io::Result<bool> {
    std::fs::metadata(directory).map(|_| false)
}
