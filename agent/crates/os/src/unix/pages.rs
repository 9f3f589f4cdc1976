//! New pages of memory, to see whether the system counts page faults: `mmap(2)`.

use crate::mmap::Mapping;
use std::io;

/// Maps `pages` new private pages of `page_bytes`, writes one byte to each and unmaps them: the
/// kernel takes a page fault for every page that it does not map ahead.
pub fn touch_new(pages: usize, page_bytes: usize) -> io::Result<()> {
    let mut memory = Mapping::anonymous(pages * page_bytes)?;
    for page in 0..pages {
        memory.write(page * page_bytes, 1);
    }
    Ok(())
}
