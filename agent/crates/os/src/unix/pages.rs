//! New pages of memory, to see whether the system counts page faults: `mmap(2)`.

use std::io;

/// Maps `pages` new private pages of `page_bytes`, writes one byte to each and unmaps them: the
/// kernel takes a page fault for every page that it does not map ahead.
pub fn touch_new(pages: usize, page_bytes: usize) -> io::Result<()> {
    let length = pages * page_bytes;
    // SAFETY: a private anonymous mapping of our own; every write stays inside it, and it is
    // unmapped before its address is forgotten.
    unsafe {
        let start = libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        for page in 0..pages {
            std::ptr::write_volatile(start.cast::<u8>().add(page * page_bytes), 1);
        }
        libc::munmap(start, length);
    }
    Ok(())
}
