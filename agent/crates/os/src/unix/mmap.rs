//! Mappings of memory and files: `mmap(2)`, `munmap(2)`, `madvise(2)`, `posix_fadvise(2)`.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// A mapping that can be read and written, unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    start: *mut u8,
    length: usize,
}

/// What the kernel is advised about a mapping before it is touched (`madvise(2)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Every page is read by itself: nothing is read ahead.
    Random,
    /// No page of another size than the least.
    #[cfg(target_os = "linux")]
    BasePages,
    /// What the pages hold is given up; private ones are new and zero when they are touched again.
    Free,
}

/// Bytes of a page.
#[inline]
pub fn page_bytes() -> usize {
    // SAFETY: plain integers.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

impl Mapping {
    /// New private memory, all zero.
    #[inline(always)]
    pub fn anonymous(length: usize) -> io::Result<Self> {
        Self::new(length, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1)
    }

    /// The first `length` bytes of a file, shared with everybody who maps or reads it. The file
    /// must be open for reading and writing, and at least as long while the mapping is touched.
    #[inline(always)]
    pub fn of_file(file: &File, length: usize) -> io::Result<Self> {
        Self::new(length, libc::MAP_SHARED, file.as_raw_fd())
    }

    #[inline(always)]
    fn new(length: usize, flags: i32, descriptor: i32) -> io::Result<Self> {
        // SAFETY: a new mapping anywhere: it touches no existing memory.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                flags,
                descriptor,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = start.cast();
        Ok(Self { start, length })
    }

    #[inline]
    pub fn advise(&self, advice: Advice) -> io::Result<()> {
        let advice = match advice {
            Advice::Random => libc::MADV_RANDOM,
            #[cfg(target_os = "linux")]
            Advice::BasePages => libc::MADV_NOHUGEPAGE,
            Advice::Free => libc::MADV_DONTNEED,
        };
        // SAFETY: all of our own mapping; values are handed out as copies only, never as
        // references.
        if unsafe { libc::madvise(self.start.cast(), self.length, advice) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
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
    #[inline]
    pub fn execute(&mut self, code: &[u8]) -> io::Result<*const u8> {
        for copy in 0..self.length / code.len() {
            // SAFETY: whole copies inside the mapping, which is borrowed mutably.
            unsafe {
                let to = self.start.add(copy * code.len());
                std::ptr::copy_nonoverlapping(code.as_ptr(), to, code.len());
            }
        }
        let executable = libc::PROT_READ | libc::PROT_EXEC;
        // SAFETY: all of our own mapping, which is not written to any more: nothing else borrows it.
        if unsafe { libc::mprotect(self.start.cast(), self.length, executable) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(self.start)
    }

    /// Unmaps it now; returns the address that it had.
    #[inline(always)]
    pub fn unmap(self) -> io::Result<usize> {
        let address = self.start as usize;
        // SAFETY: exactly what was mapped; it is forgotten, so that it is not unmapped again.
        let result = unsafe { libc::munmap(self.start.cast(), self.length) };
        std::mem::forget(self);
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(address)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly what was mapped.
        unsafe { libc::munmap(self.start.cast(), self.length) };
    }
}

/// Whether anything is mapped at the page that begins at an address: `msync(2)` fails with ENOMEM
/// where nothing is, and with MS_ASYNC does nothing else.
#[inline]
pub fn is_mapped(address: usize) -> bool {
    // SAFETY: the call changes no memory, and refuses an address where there is none.
    let result = unsafe { libc::msync(address as *mut _, page_bytes(), libc::MS_ASYNC) };
    result == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ENOMEM)
}

/// Tells the kernel that what it holds of a file in memory is not wanted any more. Pages that are
/// not on the disk yet stay: the file must have been synced.
#[cfg(target_os = "linux")]
#[inline]
pub fn drop_cached(file: &File) -> io::Result<()> {
    // SAFETY: plain integers.
    match unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zero_keeps_what_is_written_and_is_gone_afterwards() {
        let page = page_bytes();
        let mut mapping = Mapping::anonymous(4 * page).unwrap();
        assert_eq!(mapping.read(3 * page), 0);
        mapping.write(3 * page, 7);
        assert_eq!(mapping.read(3 * page), 7);
        assert!(is_mapped(mapping.start as usize));
        mapping.advise(Advice::Free).unwrap();
        #[cfg(target_os = "linux")]
        assert_eq!(mapping.read(3 * page), 0);
        drop(mapping);
    }

    #[test]
    fn a_shared_mapping_is_the_file() {
        let name = format!("pentathlon-mmap-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, b"abc").unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let mut mapping = Mapping::of_file(&file, 3).unwrap();
        assert_eq!(mapping.read(2), b'c');
        mapping.write(0, b'x');
        mapping.unmap().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"xbc");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn nothing_is_mapped_at_the_first_page() {
        assert!(!is_mapped(0));
    }
}
