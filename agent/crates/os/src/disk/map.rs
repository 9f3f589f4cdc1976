//! A part of a file as memory: `mmap(2)`, `msync(2)`, `munmap(2)`.

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::fd::AsRawFd;

/// A shared mapping of a part of a file, unmapped when dropped.
///
/// The file must be private to this process and must not be cut shorter while it is mapped, as all
/// files in the scratch directory are: the system ends a process that touches a page behind the end.
pub struct Map<'a> {
    /// The file is borrowed as on Windows, where the view needs it.
    file: PhantomData<&'a File>,
    start: *mut libc::c_void,
    /// Bytes mapped, from a page's boundary on.
    mapped: usize,
    /// Where the wanted part begins in it.
    skip: usize,
    length: usize,
    writable: bool,
}

/// What the position of a mapping is a multiple of: the size of a page.
#[inline]
pub fn boundary() -> u64 {
    crate::mmap::page_bytes() as u64
}

impl<'a> Map<'a> {
    /// Maps `length` bytes from `position` on. A mapping begins on a page's boundary, so that of a
    /// part that does not is longer by the bytes before it.
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
        let protection = if writable {
            libc::PROT_READ | libc::PROT_WRITE
        } else {
            libc::PROT_READ
        };
        // SAFETY: a new mapping anywhere; it touches no memory that is in use.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length + skip,
                protection,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                (position - skip as u64) as libc::off_t,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            file: PhantomData,
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
        unsafe { std::slice::from_raw_parts(self.start.cast::<u8>().add(self.skip), self.length) }
    }

    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        assert!(self.writable, "mapped for reading");
        // SAFETY: as above, and writable; `self` is borrowed alone as long as the slice lives.
        unsafe {
            std::slice::from_raw_parts_mut(self.start.cast::<u8>().add(self.skip), self.length)
        }
    }

    /// Writes the changed pages to the device and waits for it.
    #[inline]
    pub fn sync(&self) -> io::Result<()> {
        // SAFETY: exactly our mapping.
        if unsafe { libc::msync(self.start, self.mapped, libc::MS_SYNC) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }
}

impl Drop for Map<'_> {
    fn drop(&mut self) {
        // SAFETY: exactly our mapping, whose address is forgotten after this.
        unsafe { libc::munmap(self.start, self.mapped) };
    }
}
