//! The file system that a path lies on: `GetVolumePathNameW`, `GetVolumeInformationW`,
//! `GetDiskFreeSpaceExW`, `GetDriveTypeW`.

use crate::call::check;
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::path::Path;
use windows_sys::Win32::Storage::FileSystem::{
    GetDiskFreeSpaceExW, GetDiskFreeSpaceW, GetDriveTypeW, GetVolumeInformationW,
    GetVolumePathNameW,
};

/// What is known of a volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Volume {
    /// Where it is mounted, such as `C:\`.
    pub root: String,
    /// Such as `NTFS`.
    pub kind: String,
    /// FILE_* flags of `GetVolumeInformationW`.
    pub flags: u32,
    pub drive: &'static str,
    pub bytes: u64,
    pub free_bytes: u64,
    pub cluster_bytes: u64,
}

/// The kind of the file system that `directory` lies on.
pub fn kind(directory: &Path) -> io::Result<String> {
    volume(directory).map(|volume| volume.kind)
}

/// Windows has no volumes that programs cannot be started from.
pub fn forbids_execution(_directory: &Path) -> io::Result<bool> {
    Ok(false)
}

pub fn volume(path: &Path) -> io::Result<Volume> {
    let path: Vec<u16> = path.as_os_str().encode_wide().chain([0]).collect();
    let mut root = [0_u16; 512];
    let mut kind = [0_u16; 64];
    let (mut flags, mut bytes, mut free) = (0, 0, 0);
    let (mut sectors, mut sector_bytes, mut clusters, mut all) = (0, 0, 0, 0);
    let no_text = std::ptr::null_mut();
    // SAFETY: the names end with NUL, the buffers are as long as is said, the places are valid to
    // write to, and what is null may be null.
    unsafe {
        let length = root.len() as u32;
        check(GetVolumePathNameW(path.as_ptr(), root.as_mut_ptr(), length) != 0)?;
        let done = GetVolumeInformationW(
            root.as_ptr(),
            no_text,
            0,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            &mut flags,
            kind.as_mut_ptr(),
            kind.len() as u32,
        );
        check(done != 0)?;
        let none = std::ptr::null_mut();
        check(GetDiskFreeSpaceExW(root.as_ptr(), &mut free, &mut bytes, none) != 0)?;
        let done = GetDiskFreeSpaceW(
            root.as_ptr(),
            &mut sectors,
            &mut sector_bytes,
            &mut clusters,
            &mut all,
        );
        check(done != 0)?;
    }
    // SAFETY: the name ends with NUL.
    let drive = match unsafe { GetDriveTypeW(root.as_ptr()) } {
        2 => "removable",
        3 => "fixed",
        4 => "remote",
        5 => "cdrom",
        6 => "ramdisk",
        _ => "unknown",
    };
    Ok(Volume {
        root: text(&root),
        kind: text(&kind),
        flags,
        drive,
        bytes,
        free_bytes: free,
        cluster_bytes: u64::from(sectors) * u64::from(sector_bytes),
    })
}

/// The text before the first NUL.
pub fn text(buffer: &[u16]) -> String {
    let length = buffer
        .iter()
        .position(|&unit| unit == 0)
        .unwrap_or(buffer.len());
    String::from_utf16_lossy(&buffer[..length])
}
