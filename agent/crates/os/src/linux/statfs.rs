//! Size and kind of the file system that a path lies on: `statfs(2)`.

use std::io;
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statfs {
    /// The magic number of the kind (statfs(2) lists them).
    pub magic: u64,
    pub block_bytes: u64,
    pub blocks: u64,
    pub free_blocks: u64,
    /// What is free for users other than root.
    pub available_blocks: u64,
    pub inodes: u64,
    pub free_inodes: u64,
}

impl Statfs {
    /// Size of the whole file system.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.blocks.saturating_mul(self.block_bytes)
    }
}

#[inline(never)]
pub fn statfs(path: &Path) -> io::Result<Statfs> {
    let raw = rustix::fs::statfs(path)?;
    // The fields' types differ from one architecture to the next.
    let number = |value: i128| u64::try_from(value).unwrap_or(0);
    Ok(Statfs {
        magic: number(raw.f_type.into()),
        block_bytes: number(raw.f_bsize.into()),
        blocks: number(raw.f_blocks.into()),
        free_blocks: number(raw.f_bfree.into()),
        available_blocks: number(raw.f_bavail.into()),
        inodes: number(raw.f_files.into()),
        free_inodes: number(raw.f_ffree.into()),
    })
}
