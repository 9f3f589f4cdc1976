//! Files opened and closed in loops that are compiled at a level, and pipes.

pub use crate::files::{name, Flags, Name, CREATE, READ_ONLY, READ_WRITE, SYNCHRONOUS};
use crate::files::{Owned, FILES};
use crate::outcome::{self, Ended};
use pentathlon_code::Level;
use std::fs::File;
use std::io;

/// Opens a file with exactly these flags and closes it again, so many times; how often that was done.
#[inline]
pub fn open_close(level: Level, operations: u64, name: &Name, flags: Flags) -> Result<u64, Ended> {
    let start = crate::files::start(name);
    // SAFETY: these are the system's calls, and the name lives to the end of the loop.
    outcome::of(unsafe { (level.loops.open_close)(operations, &FILES, start, flags as u32) })
}

/// The same, and the file is removed each time.
#[inline]
pub fn create_delete(
    level: Level,
    operations: u64,
    name: &Name,
    flags: Flags,
) -> Result<u64, Ended> {
    let start = crate::files::start(name);
    // SAFETY: as above.
    outcome::of(unsafe { (level.loops.create_delete)(operations, &FILES, start, flags as u32) })
}

/// A pipe: its end to read from and its end to write to. Programs started later do not get them.
#[inline]
pub fn pipe() -> io::Result<(File, File)> {
    let (reader, writer) = io::pipe()?;
    Ok((Owned::from(reader).into(), Owned::from(writer).into()))
}
