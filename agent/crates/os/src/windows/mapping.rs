//! Memory reserved as addresses and committed when it is touched: `VirtualAlloc`.

use crate::region::{Pages, ALIGNMENT};
use std::io;
use windows_sys::Win32::System::Memory::{
    VirtualAlloc, VirtualFree, MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE,
};

const PAGE_BYTES: usize = 4096;

pub struct Mapping {
    pub start: *mut u8,
    base: *mut u8,
}

impl Mapping {
    /// Reserves `bytes` from an aligned address on; no page exists yet.
    pub fn new(bytes: usize) -> io::Result<Self> {
        let length = bytes
            .checked_add(ALIGNMENT)
            .ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: new addresses anywhere; no existing memory is touched.
        let base = unsafe { VirtualAlloc(std::ptr::null(), length, MEM_RESERVE, PAGE_READWRITE) };
        if base.is_null() {
            return Err(io::Error::last_os_error());
        }
        let base = base.cast::<u8>();
        Ok(Self {
            // SAFETY: the offset is less than ALIGNMENT, by which more was reserved than asked.
            start: unsafe { base.add(base.align_offset(ALIGNMENT)) },
            base,
        })
    }

    /// Large pages need a privilege that no account has by default (SeLockMemoryPrivilege), and
    /// cannot be committed in parts.
    #[inline]
    pub fn advise(&self, _bytes: usize, pages: Pages) -> io::Result<()> {
        match pages {
            Pages::Huge => Err(io::ErrorKind::Unsupported.into()),
            Pages::Default | Pages::Base => Ok(()),
        }
    }

    /// Commits the pages of a part of the region and writes to each.
    pub fn populate(&self, from: usize, to: usize) -> io::Result<()> {
        let first = from / PAGE_BYTES * PAGE_BYTES;
        // SAFETY: inside our reservation. Pages that are committed already keep their contents.
        let done = unsafe {
            VirtualAlloc(
                self.start.add(first).cast(),
                to - first,
                MEM_COMMIT,
                PAGE_READWRITE,
            )
        };
        if done.is_null() {
            return Err(io::Error::last_os_error());
        }
        for offset in (first..to).step_by(PAGE_BYTES) {
            // SAFETY: committed above. The byte is written back as it was read.
            unsafe {
                let byte = self.start.add(offset);
                std::ptr::write_volatile(byte, std::ptr::read_volatile(byte));
            }
        }
        Ok(())
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly what was reserved; nothing borrows from it any more.
        unsafe { VirtualFree(self.base.cast(), 0, MEM_RELEASE) };
    }
}
