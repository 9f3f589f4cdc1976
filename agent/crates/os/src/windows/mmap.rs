//! New memory and files as memory: `VirtualAlloc`, `CreateFileMapping`, `MapViewOfFile`.

use std::fs::File;
use std::io;
use std::os::windows::io::AsRawHandle;
use windows_sys::Win32::Foundation::CloseHandle;
use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, MapViewOfFile, UnmapViewOfFile, VirtualAlloc, VirtualFree, VirtualProtect,
    VirtualQuery, FILE_MAP_READ, FILE_MAP_WRITE, MEMORY_BASIC_INFORMATION,
    MEMORY_MAPPED_VIEW_ADDRESS, MEM_COMMIT, MEM_FREE, MEM_RELEASE, MEM_RESERVE, PAGE_EXECUTE_READ,
    PAGE_READWRITE,
};

/// A mapping that can be read and written, unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    start: *mut u8,
    length: usize,
    of_file: bool,
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
        // SAFETY: new memory anywhere: it touches no existing memory.
        let start = unsafe {
            VirtualAlloc(
                std::ptr::null(),
                length,
                MEM_RESERVE | MEM_COMMIT,
                PAGE_READWRITE,
            )
        };
        Self::checked(start.cast(), length, false)
    }

    /// The first `length` bytes of a file, shared with everybody who maps or reads it. The file
    /// must be open for reading and writing, and at least as long while the mapping is touched.
    #[inline(always)]
    pub fn of_file(file: &File, length: usize) -> io::Result<Self> {
        // SAFETY: the file's handle is open; the mapping's is ours, and a view keeps its mapping
        // when that is closed.
        let start = unsafe {
            let mapping = CreateFileMappingW(
                file.as_raw_handle(),
                std::ptr::null(),
                PAGE_READWRITE,
                0,
                0,
                std::ptr::null(),
            );
            if mapping.is_null() {
                return Err(io::Error::last_os_error());
            }
            let view = MapViewOfFile(mapping, FILE_MAP_READ | FILE_MAP_WRITE, 0, 0, length);
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
        if start.is_null() {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            start,
            length,
            of_file,
        })
    }

    /// Reads one byte.
    ///
    /// # Panics
    /// If it is not inside the mapping.
    #[inline(always)]
    pub fn read(&self, at: usize) -> u8 {
        assert!(at < self.length);
        // SAFETY: inside the mapping.
        unsafe { std::ptr::read_volatile(self.start.add(at)) }
    }

    /// Writes one byte.
    ///
    /// # Panics
    /// If it is not inside the mapping.
    #[inline(always)]
    pub fn write(&mut self, at: usize, value: u8) {
        assert!(at < self.length);
        // SAFETY: inside the mapping.
        unsafe { std::ptr::write_volatile(self.start.add(at), value) }
    }

    /// Fills the mapping with copies of `code`, which can be executed from then on and not written;
    /// returns where the first one begins.
    pub fn execute(&mut self, code: &[u8]) -> io::Result<*const u8> {
        for copy in 0..self.length / code.len() {
            // SAFETY: whole copies inside the mapping, which is borrowed mutably.
            unsafe {
                let to = self.start.add(copy * code.len());
                std::ptr::copy_nonoverlapping(code.as_ptr(), to, code.len());
            }
        }
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
        if done == 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(self.start)
    }

    /// Unmaps it now; returns the address that it had.
    #[inline(always)]
    pub fn unmap(self) -> io::Result<usize> {
        let address = self.start as usize;
        let done = self.release();
        std::mem::forget(self);
        if done {
            Ok(address)
        } else {
            Err(io::Error::last_os_error())
        }
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
