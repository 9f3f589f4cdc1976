//! A region of memory to measure: `mmap(2)` or `VirtualAlloc`, aligned, with its pages requested by `madvise(2)` and
//! touched on demand.

#[cfg(target_os = "linux")]
use crate::call::check;
use crate::mmap;
use std::io;

/// Regions begin on this boundary, so that huge pages can back them from their first byte.
pub const ALIGNMENT: usize = 2 << 20;

/// Which pages shall back a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pages {
    /// Whatever the system gives.
    Default,
    /// The smallest pages (`MADV_NOHUGEPAGE`).
    Base,
    /// Transparent huge pages (`MADV_HUGEPAGE`).
    Huge,
}

/// Private zeroed memory of 64-bit words. Its pages exist only up to the touched mark.
pub struct Region {
    start: *mut u64,
    words: usize,
    touched: usize,
    mapping: Mapping,
}

// SAFETY: the memory belongs to the region alone and to no thread; access goes through `&mut`.
unsafe impl Send for Region {}

impl Region {
    /// Reserves `bytes` (a multiple of 8) of address space.
    #[inline]
    pub fn reserve(bytes: usize, pages: Pages) -> io::Result<Self> {
        assert!(bytes > 0 && bytes.is_multiple_of(8), "whole 64-bit words");
        let mapping = Mapping::new(bytes)?;
        mapping.advise(bytes, pages)?;
        Ok(Self {
            start: mapping.start.cast(),
            words: bytes / 8,
            touched: 0,
            mapping,
        })
    }

    /// Makes the pages of the first `bytes` exist. Returns how many bytes were new.
    #[inline]
    pub fn touch(&mut self, bytes: usize) -> io::Result<usize> {
        assert!(bytes <= self.words * 8, "inside the region");
        let new = bytes.saturating_sub(self.touched);
        if new > 0 {
            self.mapping.populate(self.touched, bytes)?;
            self.touched = bytes;
        }
        Ok(new)
    }

    /// As `touch`, page by page and never for many at once: inside of a control group the system
    /// makes room for a single page by swapping, but runs out of memory (Linux 6.18 kills the
    /// process) if more than the group's limit is requested in one call.
    #[cfg(unix)]
    #[inline]
    pub fn touch_each(&mut self, bytes: usize) -> usize {
        assert!(bytes <= self.words * 8, "inside the region");
        let new = bytes.saturating_sub(self.touched);
        if new > 0 {
            self.mapping.fault_in(self.touched, bytes);
            self.touched = bytes;
        }
        new
    }

    /// The words of the region up to the touched mark.
    #[inline]
    pub fn words(&mut self) -> &mut [u64] {
        // SAFETY: the mapping is ours alone, zeroed or written, aligned, as long as `words` and
        // lives as long as `self`, which the slice borrows.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.touched / 8) }
    }

    /// The same memory as 32-bit words.
    #[inline]
    pub fn halves(&mut self) -> &mut [u32] {
        let count = self.touched / 4;
        // SAFETY: as for `words`; any 64-bit word is two 32-bit words.
        unsafe { std::slice::from_raw_parts_mut(self.start.cast(), count) }
    }

    /// First and one past the last address, as `/proc/self/smaps` counts them.
    #[inline]
    pub fn addresses(&self) -> std::ops::Range<usize> {
        let start = self.start as usize;
        start..start + self.words * 8
    }
}

struct Mapping {
    start: *mut u8,
    /// Elsewhere it is only kept, to be unmapped when dropped.
    #[cfg_attr(not(any(target_os = "linux", windows)), allow(dead_code))]
    whole: mmap::Mapping,
}

impl Mapping {
    /// `bytes` from an aligned address on; no page exists yet.
    fn new(bytes: usize) -> io::Result<Self> {
        let length = bytes
            .checked_add(ALIGNMENT)
            .ok_or(io::ErrorKind::OutOfMemory)?;
        let whole = mmap::Mapping::reserved(length)?;
        let skip = whole.start.align_offset(ALIGNMENT);
        Ok(Self {
            // SAFETY: `skip` is less than ALIGNMENT, by which the mapping is longer than asked.
            start: unsafe { whole.start.add(skip) },
            whole,
        })
    }

    #[cfg(target_os = "linux")]
    fn advise(&self, bytes: usize, pages: Pages) -> io::Result<()> {
        let advice = match pages {
            Pages::Default => return Ok(()),
            Pages::Base => libc::MADV_NOHUGEPAGE,
            Pages::Huge => libc::MADV_HUGEPAGE,
        };
        // SAFETY: the range is inside our mapping; the advice changes no contents.
        match check(unsafe { libc::madvise(self.start.cast(), bytes, advice) } == 0) {
            // A kernel without transparent huge pages knows neither advice, and has base pages only.
            Err(error) if pages == Pages::Base && error.raw_os_error() == Some(libc::EINVAL) => {
                Ok(())
            }
            other => other,
        }
    }

    /// Large pages of Windows need a privilege that no account has by default
    /// (SeLockMemoryPrivilege), and cannot be committed in parts.
    #[cfg(not(target_os = "linux"))]
    fn advise(&self, _bytes: usize, pages: Pages) -> io::Result<()> {
        match pages {
            Pages::Huge => Err(io::ErrorKind::Unsupported.into()),
            Pages::Default | Pages::Base => Ok(()),
        }
    }

    fn populate(&self, from: usize, to: usize) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            // Pages that are there already may be populated again; the kernel skips them.
            let page = page_bytes();
            let first = from / page * page;
            const MADV_POPULATE_WRITE: libc::c_int = 23;
            // SAFETY: inside our mapping; populating writes no contents.
            let result = unsafe {
                libc::madvise(
                    self.start.add(first).cast(),
                    to - first,
                    MADV_POPULATE_WRITE,
                )
            };
            if result == 0 {
                return self.settle(first, to);
            }
            let error = io::Error::last_os_error();
            // Kernels before 5.14 do not know it: touch the pages one by one.
            if error.raw_os_error() == Some(libc::ENOMEM) {
                return Err(error);
            }
        }
        #[cfg(windows)]
        self.whole
            .commit(self.start, from / page_bytes() * page_bytes(), to)?;
        self.fault_in(from, to);
        Ok(())
    }

    /// Touches every page of the range.
    fn fault_in(&self, from: usize, to: usize) {
        let page = page_bytes();
        for offset in (from / page * page..to).step_by(page) {
            // SAFETY: inside our mapping. The byte is written back as it was read.
            unsafe {
                let byte = self.start.add(offset);
                std::ptr::write_volatile(byte, std::ptr::read_volatile(byte));
            }
        }
    }
}

#[cfg(target_os = "linux")]
impl Mapping {
    /// Turns the pages read-only and back. User-mode Linux up to 6.1 populates its own tables and
    /// then maps each page on the host when it is first touched, at 50 µs a page; a change of
    /// protection makes it map them all at once. Other kernels do it at next to no cost.
    fn settle(&self, from: usize, to: usize) -> io::Result<()> {
        // Whole huge pages, because a change for a part of one would split it.
        let from = from / ALIGNMENT * ALIGNMENT;
        let end = self.whole.start as usize + self.whole.length - self.start as usize;
        let to = to
            .next_multiple_of(ALIGNMENT)
            .min(end.next_multiple_of(page_bytes()));
        for protection in [libc::PROT_READ, mmap::READ_AND_WRITE] {
            // SAFETY: whole pages of our mapping, to which nobody holds a reference now.
            let result =
                unsafe { libc::mprotect(self.start.add(from).cast(), to - from, protection) };
            check(result == 0)?;
        }
        Ok(())
    }
}

#[cfg(unix)]
use mmap::page_bytes;

/// Pages are committed and touched by this size on every Windows.
#[cfg(windows)]
fn page_bytes() -> usize {
    4096
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touched_memory_is_zero_keeps_what_is_written_and_grows() {
        let mut region = Region::reserve(1 << 20, Pages::Base).unwrap();
        assert_eq!(region.addresses().start % ALIGNMENT, 0);
        assert!(region.words().is_empty(), "nothing is touched yet");
        assert_eq!(region.touch(4096 + 64).unwrap(), 4096 + 64);
        assert!(region.words().iter().all(|&word| word == 0));
        region.words().fill(7);
        assert_eq!(region.touch(64).unwrap(), 0);
        assert_eq!(region.touch(1 << 20).unwrap(), (1 << 20) - 4096 - 64);
        let words = region.words();
        assert_eq!(words.len(), (1 << 20) / 8);
        let written = (4096 + 64) / 8;
        assert!(words[..written].iter().all(|&word| word == 7));
        assert!(words[written..].iter().all(|&word| word == 0));
    }

    #[cfg(unix)]
    #[test]
    fn pages_touched_one_by_one_are_the_same_memory() {
        let mut region = Region::reserve(1 << 20, Pages::Base).unwrap();
        assert_eq!(region.touch_each(8192 + 64), 8192 + 64);
        region.words().fill(7);
        assert_eq!(region.touch_each(1 << 20), (1 << 20) - 8192 - 64);
        assert_eq!(region.touch_each(4096), 0);
        let words = region.words();
        let written = (8192 + 64) / 8;
        assert_eq!(words.len(), (1 << 20) / 8);
        assert!(words[..written].iter().all(|&word| word == 7));
        assert!(words[written..].iter().all(|&word| word == 0));
    }

    #[test]
    fn more_than_the_address_space_is_refused() {
        assert!(Region::reserve(1 << 60, Pages::Default).is_err());
    }
}
