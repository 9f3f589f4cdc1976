//! Data that the physical disks have moved: `DeviceIoControl` with IOCTL_DISK_PERFORMANCE.

use crate::call::check;
use std::fs::File;
use std::io;
use std::mem::size_of_val;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use windows_sys::Win32::Storage::FileSystem::{FILE_SHARE_READ, FILE_SHARE_WRITE};
use windows_sys::Win32::System::IO::DeviceIoControl;

/// CTL_CODE(IOCTL_DISK_BASE, 8, METHOD_BUFFERED, FILE_ANY_ACCESS) of ntdddisk.h.
const IOCTL_DISK_PERFORMANCE: u32 = 0x0007_0020;

/// Numbers of disks that are looked at; they have gaps where a disk was taken out.
const DISKS: u32 = 64;

/// Bytes read and written by all disks since they were attached; an error if none counts.
pub fn bytes() -> io::Result<u64> {
    let counted: Vec<io::Result<u64>> = (0..DISKS).map(of).collect();
    if counted.iter().all(Result::is_err) {
        let first = counted.into_iter().next().expect("there are numbers");
        return first;
    }
    Ok(counted.into_iter().flatten().fold(0, u64::wrapping_add))
}

fn of(number: u32) -> io::Result<u64> {
    // Without any access, which an ordinary user may have.
    let disk = File::options()
        .access_mode(0)
        .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE)
        .open(format!("\\\\.\\PhysicalDrive{number}"))?;
    // DISK_PERFORMANCE of winioctl.h, 88 bytes, begins with BytesRead and BytesWritten.
    let mut counts = [0_u64; 16];
    let mut written = 0;
    // SAFETY: the handle is open, and the buffer is as long as is said.
    let done = unsafe {
        DeviceIoControl(
            disk.as_raw_handle(),
            IOCTL_DISK_PERFORMANCE,
            std::ptr::null(),
            0,
            counts.as_mut_ptr().cast(),
            size_of_val(&counts) as u32,
            &mut written,
            std::ptr::null_mut(),
        )
    };
    check(done != 0)?;
    Ok(counts[0].wrapping_add(counts[1]))
}
