//! Mappings of memory and files: `mmap(2)`, `munmap(2)`, `madvise(2)`, `msync(2)`.

use crate::call::check;
#[cfg(target_os = "linux")]
pub use crate::disk::pages::drop_cached;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// A mapping, unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    pub(crate) start: *mut u8,
    pub(crate) length: usize,
}

/// What the position of a part of a file that is mapped is a multiple of: the size of a page.
#[inline]
pub fn boundary() -> u64 {
    page_bytes() as u64
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

/// How most mappings can be used.
pub(crate) const READ_AND_WRITE: i32 = libc::PROT_READ | libc::PROT_WRITE;

/// The BSDs never reserve; FreeBSD has dropped the flag.
#[cfg(not(target_os = "freebsd"))]
const NO_RESERVE: libc::c_int = libc::MAP_NORESERVE;
#[cfg(target_os = "freebsd")]
const NO_RESERVE: libc::c_int = 0;

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
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        Self::new(length, READ_AND_WRITE, flags, -1, 0)
    }

    /// New private memory for which nothing is set aside until it is touched.
    pub(crate) fn reserved(length: usize) -> io::Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | NO_RESERVE;
        Self::new(length, READ_AND_WRITE, flags, -1, 0)
    }

    /// The first `length` bytes of a file, shared with everybody who maps or reads it. The file
    /// must be open for reading and writing, and at least as long while the mapping is touched.
    #[inline(always)]
    pub fn of_file(file: &File, length: usize) -> io::Result<Self> {
        Self::new(
            length,
            READ_AND_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    }

    /// A part of a file from a boundary on, shared as in [`Self::of_file`].
    #[inline]
    pub(crate) fn of_part(
        file: &File,
        from: u64,
        length: usize,
        writable: bool,
    ) -> io::Result<Self> {
        let protection = if writable {
            READ_AND_WRITE
        } else {
            libc::PROT_READ
        };
        let descriptor = file.as_raw_fd();
        Self::new(length, protection, libc::MAP_SHARED, descriptor, from)
    }

    /// Memory that the kernel shares by way of a socket or another descriptor.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_socket(socket: &impl AsRawFd, length: usize) -> io::Result<Self> {
        Self::new(
            length,
            READ_AND_WRITE,
            libc::MAP_SHARED,
            socket.as_raw_fd(),
            0,
        )
    }

    /// A mapping wherever the system puts it: the flags must not name a place (`MAP_FIXED`).
    #[inline(always)]
    pub(crate) fn new(
        length: usize,
        protection: i32,
        flags: i32,
        descriptor: i32,
        from: u64,
    ) -> io::Result<Self> {
        let from = from as libc::off_t;
        // SAFETY: a new mapping anywhere: it touches no existing memory.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                protection,
                flags,
                descriptor,
                from,
            )
        };
        check(start != libc::MAP_FAILED)?;
        let start = start.cast();
        Ok(Self { start, length })
    }

    /// Writes the changed pages of a shared mapping to the device and waits for it.
    #[inline]
    pub(crate) fn sync(&self, _file: &File) -> io::Result<()> {
        // SAFETY: exactly our mapping.
        check(unsafe { libc::msync(self.start.cast(), self.length, libc::MS_SYNC) } == 0)
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
        check(unsafe { libc::madvise(self.start.cast(), self.length, advice) } == 0)
    }

    /// Fills the mapping with copies of `code`, which can be executed from then on and not written;
    /// returns where the first one begins.
    #[inline]
    pub fn execute(&mut self, code: &[u8]) -> io::Result<*const u8> {
        self.fill(code);
        let executable = libc::PROT_READ | libc::PROT_EXEC;
        // SAFETY: all of our own mapping, which is not written to any more: nothing else borrows it.
        check(unsafe { libc::mprotect(self.start.cast(), self.length, executable) } == 0)?;
        Ok(self.start)
    }

    /// Unmaps it now; returns the address that it had.
    #[inline(always)]
    pub fn unmap(self) -> io::Result<usize> {
        let address = self.start as usize;
        // SAFETY: exactly what was mapped; it is forgotten, so that it is not unmapped again.
        let result = unsafe { libc::munmap(self.start.cast(), self.length) };
        std::mem::forget(self);
        check(result == 0)?;
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
