//! A part of a file as memory: `mmap(2)`, `msync(2)`, `munmap(2)`; `CreateFileMapping`,
//! `MapViewOfFile`, `FlushViewOfFile`, `FlushFileBuffers`.

pub use crate::mmap::boundary;
use crate::mmap::Mapping;
use std::fs::File;
use std::io;

/// A shared mapping of a part of a file, unmapped when dropped.
///
/// The file must be private to this process and must not be cut shorter while it is mapped, as all
/// files in the scratch directory are: the system ends a process that touches a page behind the end.
/// Windows refuses to cut a file shorter while a view of it is there.
pub struct Map<'a> {
    file: &'a File,
    /// From a boundary on.
    mapping: Mapping,
    /// Where the wanted part begins in it.
    skip: usize,
    length: usize,
    writable: bool,
}

impl<'a> Map<'a> {
    /// Maps `length` bytes from `position` on. A mapping begins on a boundary, so that of a part
    /// that does not is longer by the bytes before it.
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
        Ok(Self {
            file,
            mapping: Mapping::of_part(file, position - skip as u64, length + skip, writable)?,
            skip,
            length,
            writable,
        })
    }

    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: mapped, readable, inside the file, and private to this process (see the type).
        unsafe { std::slice::from_raw_parts(self.mapping.start.add(self.skip), self.length) }
    }

    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        assert!(self.writable, "mapped for reading");
        // SAFETY: as above, and writable; `self` is borrowed alone as long as the slice lives.
        unsafe { std::slice::from_raw_parts_mut(self.mapping.start.add(self.skip), self.length) }
    }

    /// Writes the changed pages to the device and waits for it.
    #[inline]
    pub fn sync(&self) -> io::Result<()> {
        self.mapping.sync(self.file)
    }
}
