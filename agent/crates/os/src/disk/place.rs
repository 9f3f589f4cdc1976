//! What a directory lies on: kind of the file system, free space, and the device's read-ahead.

use std::io;
use std::path::Path;

/// Bytes that this user may still write to the file system; none where the system does not say.
#[cfg(target_os = "linux")]
#[inline]
pub fn free_bytes(directory: &Path) -> io::Result<Option<u64>> {
    let found = crate::statfs::statfs(directory)?;
    // A file system of size 0, such as some virtual ones, reports nothing.
    Ok((found.blocks > 0).then(|| found.available_blocks.saturating_mul(found.block_bytes)))
}

#[cfg(windows)]
#[inline]
pub fn free_bytes(directory: &Path) -> io::Result<Option<u64>> {
    crate::filesystem::volume(directory).map(|volume| Some(volume.free_bytes))
}

#[cfg(not(any(target_os = "linux", windows)))]
#[inline]
pub fn free_bytes(_directory: &Path) -> io::Result<Option<u64>> {
    Ok(None)
}

/// Kind of the file system, such as `ext4`; none where the system does not say.
#[inline]
pub fn kind(directory: &Path) -> Option<String> {
    #[cfg(any(target_os = "linux", windows))]
    {
        crate::filesystem::kind(directory).ok()
    }
    #[cfg(not(any(target_os = "linux", windows)))]
    {
        let _ = directory;
        None
    }
}

/// All memory of this system, in bytes; none where the system does not say.
#[cfg(windows)]
#[inline]
pub fn memory_bytes() -> Option<u64> {
    crate::machine::memory().ok().map(|memory| memory.total)
}

/// All memory of this system, in bytes; none where the system does not say.
#[cfg(not(windows))]
#[inline]
pub fn memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

/// How far the system reads ahead on the device under `directory`, in bytes, and the file that says
/// so (`/sys/class/bdi/MAJOR:MINOR/read_ahead_kb`, sysfs-class-bdi of the kernel's ABI documents).
#[cfg(target_os = "linux")]
pub fn read_ahead(directory: &Path) -> Option<(u64, String)> {
    use std::os::unix::fs::MetadataExt;
    let device = std::fs::metadata(directory).ok()?.dev();
    let (major, minor) = (libc::major(device), libc::minor(device));
    let device = format!("{major}:{minor}");
    // A partition has no entry of its own among the backing devices: its disk has.
    [
        format!("/sys/class/bdi/{device}/read_ahead_kb"),
        format!("/sys/dev/block/{device}/queue/read_ahead_kb"),
        format!("/sys/dev/block/{device}/../queue/read_ahead_kb"),
    ]
    .into_iter()
    .find_map(|file| {
        let kib: u64 = std::fs::read_to_string(&file).ok()?.trim().parse().ok()?;
        Some((kib * 1024, file))
    })
}

#[cfg(not(target_os = "linux"))]
#[inline]
pub fn read_ahead(_directory: &Path) -> Option<(u64, String)> {
    None
}

/// Bytes that the block layer has read for this process (`read_bytes` of `/proc/self/io`,
/// proc_pid_io(5)); none where the system does not count.
#[inline]
pub fn device_read_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("read_bytes:"))?;
    line.trim().parse().ok()
}

/// Writes back everything that is dirty on the file system under `directory` and waits for it
/// (`syncfs(2)`); a system that has no such call answers `Unsupported`.
#[cfg(target_os = "linux")]
#[inline]
pub fn sync_file_system(directory: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let directory = std::fs::File::open(directory)?;
    // SAFETY: a plain descriptor, open to the end of the call.
    crate::call::check(unsafe { libc::syncfs(directory.as_raw_fd()) } == 0)
}

#[cfg(not(target_os = "linux"))]
#[inline]
pub fn sync_file_system(_directory: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
