//! New memory and files as memory: `VirtualAlloc`, `CreateFileMapping`, `MapViewOfFile`.

use crate::call::check;
use std::fs::File;
use std::io;
use std::os::windows::io::AsRawHandle;
use windows_sys::Win32::Foundation::CloseHandle;
use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, FlushViewOfFile, MapViewOfFile, UnmapViewOfFile, VirtualAlloc, VirtualFree,
    VirtualProtect, VirtualQuery, FILE_MAP_READ, FILE_MAP_WRITE, MEMORY_BASIC_INFORMATION,
    MEMORY_MAPPED_VIEW_ADDRESS, MEM_COMMIT, MEM_FREE, MEM_RELEASE, MEM_RESERVE, PAGE_EXECUTE_READ,
    PAGE_READONLY, PAGE_READWRITE, VIRTUAL_ALLOCATION_TYPE,
};

/// A mapping, unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    pub(crate) start: *mut u8,
    pub(crate) length: usize,
    of_file: bool,
}

/// What the position of a part of a file that is mapped is a multiple of: the allocation
/// granularity, 64 KiB.
#[inline]
pub fn boundary() -> u64 {
    u64::from(crate::system::native().1)
}

/// Bytes of a page.
#[inline]
pub fn page_bytes() -> usize {
    crate::system::native().0 as usize
}

impl Mapping {
    /// New private memory, all zero.
    #[inline(always)]
    pub fn anonymous(length: usize) -> io::Result<Self> {
        Self::new(length, MEM_RESERVE | MEM_COMMIT)
    }

    /// Addresses without memory, which comes by [`Self::commit`].
    pub(crate) fn reserved(length: usize) -> io::Result<Self> {
        Self::new(length, MEM_RESERVE)
    }

    #[inline(always)]
    fn new(length: usize, how: VIRTUAL_ALLOCATION_TYPE) -> io::Result<Self> {
        // SAFETY: new memory anywhere: it touches no existing memory.
        let start = unsafe { VirtualAlloc(std::ptr::null(), length, how, PAGE_READWRITE) };
        Self::checked(start.cast(), length, false)
    }

    /// Commits a part of what was reserved, whose places are counted from `start` on. Pages that
    /// are committed already keep their contents.
    pub(crate) fn commit(&self, start: *mut u8, from: usize, to: usize) -> io::Result<()> {
        let place = start.wrapping_add(from);
        let inside = place >= self.start && to - from <= self.length;
        assert!(inside, "a part of the mapping");
        // SAFETY: inside our reservation.
        let done = unsafe { VirtualAlloc(place.cast(), to - from, MEM_COMMIT, PAGE_READWRITE) };
        check(!done.is_null())
    }

    /// The first `length` bytes of a file, shared with everybody who maps or reads it. The file
    /// must be open for reading and writing, and at least as long while the mapping is touched.
    #[inline(always)]
    pub fn of_file(file: &File, length: usize) -> io::Result<Self> {
        Self::of_part(file, 0, length, true)
    }

    /// A part of a file from a boundary on, shared as in [`Self::of_file`].
    #[inline(always)]
    pub(crate) fn of_part(
        file: &File,
        from: u64,
        length: usize,
        writable: bool,
    ) -> io::Result<Self> {
        let (protection, access) = if writable {
            (PAGE_READWRITE, FILE_MAP_READ | FILE_MAP_WRITE)
        } else {
            (PAGE_READONLY, FILE_MAP_READ)
        };
        let (high, low) = ((from >> 32) as u32, from as u32);
        // SAFETY: the file's handle is open; the mapping's is ours, and a view keeps its mapping
        // when that is closed.
        let start = unsafe {
            let mapping = CreateFileMappingW(
                file.as_raw_handle(),
                std::ptr::null(),
                protection,
                0,
                0,
                std::ptr::null(),
            );
            check(!mapping.is_null())?;
            let view = MapViewOfFile(mapping, access, high, low, length);
            let error = io::Error::last_os_error();
            CloseHandle(mapping);
            if view.Value.is_null() {
                return Err(error);
            }
            view.Value
        };
        Self::checked(start.cast(), length, true)
    }

    #[inline(always)]
    fn checked(start: *mut u8, length: usize, of_file: bool) -> io::Result<Self> {
        check(!start.is_null())?;
        Ok(Self {
            start,
            length,
            of_file,
        })
    }

    /// Writes the changed pages of a file's part to the device and waits for it: flushing the view
    /// alone hands them to the file, not to the device.
    #[inline]
    pub(crate) fn sync(&self, file: &File) -> io::Result<()> {
        // SAFETY: exactly our view.
        check(unsafe { FlushViewOfFile(self.start.cast(), self.length) } != 0)?;
        file.sync_data()
    }

    /// Fills the mapping with copies of `code`, which can be executed from then on and not written;
    /// returns where the first one begins.
    pub fn execute(&mut self, code: &[u8]) -> io::Result<*const u8> {
        self.fill(code);
        let mut before = 0;
        // SAFETY: all of our own mapping, which is not written to any more: nothing else borrows it.
        let done = unsafe {
            VirtualProtect(
                self.start.cast(),
                self.length,
                PAGE_EXECUTE_READ,
                &mut before,
            )
        };
        check(done != 0)?;
        Ok(self.start)
    }

    /// Unmaps it now; returns the address that it had.
    #[inline(always)]
    pub fn unmap(self) -> io::Result<usize> {
        let address = self.start as usize;
        let done = self.release();
        std::mem::forget(self);
        check(done)?;
        Ok(address)
    }

    #[inline(always)]
    fn release(&self) -> bool {
        // SAFETY: exactly what was mapped; the callers never use it again.
        unsafe {
            if self.of_file {
                let view = MEMORY_MAPPED_VIEW_ADDRESS {
                    Value: self.start.cast(),
                };
                UnmapViewOfFile(view) != 0
            } else {
                VirtualFree(self.start.cast(), 0, MEM_RELEASE) != 0
            }
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        self.release();
    }
}

/// Whether anything is mapped at an address: `VirtualQuery`.
#[inline]
pub fn is_mapped(address: usize) -> bool {
    let mut information = MEMORY_BASIC_INFORMATION::default();
    let length = std::mem::size_of::<MEMORY_BASIC_INFORMATION>();
    // SAFETY: only asks; the structure is as long as is said.
    let reported = unsafe { VirtualQuery(address as *const _, &mut information, length) };
    reported == 0 || information.State != MEM_FREE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_there_until_it_is_unmapped() {
        let mut mapping = Mapping::anonymous(1 << 20).unwrap();
        assert_eq!(mapping.read((1 << 20) - 1), 0);
        mapping.write(4096, 7);
        assert_eq!(mapping.read(4096), 7);
        assert!(is_mapped(mapping.start as usize));
        let address = mapping.unmap().unwrap();
        assert!(!is_mapped(address));
    }

    #[test]
    fn what_is_written_to_a_mapped_file_is_in_the_file() {
        let path = std::env::temp_dir().join(format!("mapped-{}", std::process::id()));
        std::fs::write(&path, [0; 5000]).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let mut mapping = Mapping::of_file(&file, 5000).unwrap();
        mapping.write(4999, 9);
        drop((mapping, file));
        assert_eq!(std::fs::read(&path).unwrap()[4999], 9);
        std::fs::remove_file(&path).unwrap();
    }
}
