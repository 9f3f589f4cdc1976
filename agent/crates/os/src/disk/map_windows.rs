//! A part of a file as memory: `CreateFileMapping`, `MapViewOfFile`, `FlushViewOfFile`,
//! `FlushFileBuffers`.

use std::fs::File;
use std::io;
use std::os::windows::io::AsRawHandle;
use windows_sys::Win32::Foundation::CloseHandle;
use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, FlushViewOfFile, MapViewOfFile, UnmapViewOfFile, FILE_MAP_READ,
    FILE_MAP_WRITE, MEMORY_MAPPED_VIEW_ADDRESS, PAGE_READONLY, PAGE_READWRITE,
};

/// A shared view of a part of a file, unmapped when dropped.
///
/// The file must be private to this process, as all files in the scratch directory are. Windows
/// refuses to cut a file shorter while a view of it is there.
pub struct Map<'a> {
    file: &'a File,
    start: MEMORY_MAPPED_VIEW_ADDRESS,
    /// Bytes mapped, from a boundary on.
    mapped: usize,
    /// Where the wanted part begins in it.
    skip: usize,
    length: usize,
    writable: bool,
}

/// What the position of a view is a multiple of: the allocation granularity, 64 KiB.
#[inline]
pub fn boundary() -> u64 {
    u64::from(crate::system::native().1)
}

impl<'a> Map<'a> {
    /// Maps `length` bytes from `position` on. A view begins on a boundary, so that of a part that
    /// does not is longer by the bytes before it.
    #[inline]
    pub fn new(
        file: &'a File,
        position: u64,
        length: usize,
        writable: bool,
        boundary: u64,
    ) -> io::Result<Self> {
        assert!(length > 0, "an empty part cannot be mapped");
        let skip = (position % boundary) as usize;
        let from = position - skip as u64;
        let (protection, access) = if writable {
            (PAGE_READWRITE, FILE_MAP_READ | FILE_MAP_WRITE)
        } else {
            (PAGE_READONLY, FILE_MAP_READ)
        };
        // SAFETY: the file's handle is open. The mapping's is ours and closed once; a view keeps
        // its mapping when that is closed, and touches no memory that is in use.
        let start = unsafe {
            let mapping = CreateFileMappingW(
                file.as_raw_handle(),
                std::ptr::null(),
                protection,
                0,
                0,
                std::ptr::null(),
            );
            if mapping.is_null() {
                return Err(io::Error::last_os_error());
            }
            let view = MapViewOfFile(
                mapping,
                access,
                (from >> 32) as u32,
                from as u32,
                length + skip,
            );
            let error = io::Error::last_os_error();
            CloseHandle(mapping);
            if view.Value.is_null() {
                return Err(error);
            }
            view
        };
        Ok(Self {
            file,
            start,
            mapped: length + skip,
            skip,
            length,
            writable,
        })
    }

    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: mapped, readable, inside the file, and private to this process (see the type).
        unsafe {
            std::slice::from_raw_parts(self.start.Value.cast::<u8>().add(self.skip), self.length)
        }
    }

    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        assert!(self.writable, "mapped for reading");
        // SAFETY: as above, and writable; `self` is borrowed alone as long as the slice lives.
        unsafe {
            std::slice::from_raw_parts_mut(
                self.start.Value.cast::<u8>().add(self.skip),
                self.length,
            )
        }
    }

    /// Writes the changed pages to the device and waits for it: flushing the view alone hands them
    /// to the file, not to the device.
    #[inline]
    pub fn sync(&self) -> io::Result<()> {
        // SAFETY: exactly our view.
        if unsafe { FlushViewOfFile(self.start.Value, self.mapped) } == 0 {
            return Err(io::Error::last_os_error());
        }
        self.file.sync_data()
    }
}

impl Drop for Map<'_> {
    fn drop(&mut self) {
        // SAFETY: exactly our view, whose address is forgotten after this.
        unsafe { UnmapViewOfFile(self.start) };
    }
}
