//! The file that is measured: made once per workload, with known content, in a known state.

use super::content::{Aligned, Content};
use super::served::Before;
use super::workdir::Workdir;
use pentathlon_harness::measure::Failure;
use pentathlon_os::disk::open::{self, How};
use pentathlon_os::disk::pages;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Bytes written and compared at a time outside timed regions.
const STEP: usize = 1 << 20;

/// Opens a file for writing, and makes it if it is not there.
pub const MAKE: How = How {
    create: true,
    ..How::WRITE
};

/// A file of known content, removed when dropped.
pub struct TestFile {
    path: PathBuf,
    pub bytes: u64,
    pub content: Content,
    pub kind: Option<String>,
    reports_pages: bool,
    latest: u64,
    buffer: Aligned,
}

impl TestFile {
    /// Writes a file of `bytes` and waits until it is on the device. `longest`: the longest part
    /// that will be read or written at once.
    pub fn make(
        workdir: &Workdir,
        name: &str,
        bytes: u64,
        longest: usize,
        seed: u64,
    ) -> Result<Self, Failure> {
        workdir.require(bytes)?;
        let path = workdir.file(name);
        std::fs::remove_file(&path).ok();
        let mut file = Self {
            path,
            bytes,
            content: Content::new(seed, longest.max(STEP)),
            kind: workdir.kind.clone(),
            reports_pages: workdir.reports_pages,
            latest: 0,
            buffer: Aligned::new(STEP),
        };
        file.rewrite()?;
        Ok(file)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of the next generation of the content.
    pub fn next_generation(&mut self) -> u64 {
        self.latest += 1;
        self.latest
    }

    /// Writes the whole file anew and waits until it is on the device.
    pub fn rewrite(&mut self) -> Result<(), Failure> {
        let generation = self.next_generation();
        let file = open::open(&self.path, MAKE).map_err(|e| system("making the file", &e))?;
        let mut position = 0;
        while position < self.bytes {
            let length = (self.bytes - position).min(STEP as u64) as usize;
            let written = open::write_at(
                &file,
                self.content.fresh(position, length, generation),
                position,
            )
            .map_err(|e| system("writing the file", &e))?;
            if written != length {
                return Err(short("written", written, length));
            }
            position += length as u64;
        }
        file.sync_all()
            .map_err(|e| system("writing the file to the device", &e))?;
        self.content.rewritten(self.bytes, generation);
        Ok(())
    }

    /// Writes back what is dirty and lets the system forget the file's pages, where it can.
    pub fn forget(&self) -> Result<(), Failure> {
        let file = self.reopen(How::WRITE)?;
        file.sync_all()
            .map_err(|e| system("writing the file to the device", &e))?;
        // Pages still on a CPU's own list are let go of at the second asking. What stays is seen
        // and said by the observation of the pass.
        for _ in 0..3 {
            let left = pages::drop_cached(&file).and_then(|()| pages::resident(&file, self.bytes));
            if !matches!(left, Ok(found) if found.resident > 0) {
                break;
            }
        }
        Ok(())
    }

    /// The readings before a timed pass over the first `bytes`.
    pub fn before(&self, direct: bool, bytes: u64) -> Result<Before, Failure> {
        let file = self.reopen(How::READ)?;
        Ok(Before::read(
            self.reports_pages.then_some(&file),
            bytes,
            self.kind.as_deref(),
            direct,
        ))
    }

    pub fn reopen(&self, how: How) -> Result<File, Failure> {
        open::open(&self.path, how).map_err(|e| system("opening the file", &e))
    }

    /// Compares every byte of the first `bytes` with what was written, after `change` to each.
    pub fn verify(&mut self, bytes: u64, change: Option<fn(u8) -> u8>) -> Result<(), Failure> {
        let file = self.reopen(How::READ)?;
        let mut position = 0;
        while position < bytes {
            let length = (bytes - position).min(STEP as u64) as usize;
            let buffer = &mut self.buffer.bytes_mut()[..length];
            let read = open::read_at(&file, buffer, position)
                .map_err(|e| system("reading the file", &e))?;
            if read != length {
                return Err(short("read", read, length));
            }
            if !self
                .content
                .holds(position, &self.buffer.bytes()[..length], change)
            {
                return Err(Failure::Invalid(format!(
                    "the file does not hold what was written to it, within {length} B of byte \
                     {position}"
                )));
            }
            position += length as u64;
        }
        Ok(())
    }

    /// The checksum of a pass over chunks at these places, whose stamps summed up to `observed`: that
    /// of the file, if they are the right ones.
    pub fn proven(
        &self,
        observed: u64,
        chunks: u64,
        chunk: usize,
        place: impl Fn(u64) -> u64,
    ) -> Result<u64, Failure> {
        let expected = (0..chunks).fold(0u64, |sum, n| {
            sum.wrapping_add(self.content.expected(place(n), chunk))
        });
        if observed != expected {
            return Err(Failure::Invalid(
                "the bytes that were read are not those that were written".into(),
            ));
        }
        Ok(self.content.checksum(self.bytes))
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        std::fs::remove_file(&self.path).ok();
    }
}

/// Compares blocks of a file at these places with what was written in a generation.
pub fn verify_blocks(
    file: &File,
    content: &mut Content,
    block: usize,
    generation: u64,
    places: impl Iterator<Item = u64>,
) -> Result<(), Failure> {
    let mut found = vec![0; block];
    for place in places {
        let read = open::read_at(file, &mut found, place)
            .map_err(|e| system("reading a block back", &e))?;
        if read != block || content.fresh(place, block, generation) != found {
            return Err(Failure::Invalid(format!(
                "the block at byte {place} does not hold what was written to it"
            )));
        }
    }
    Ok(())
}

/// A failed call on the measured file.
pub fn system(what: &str, error: &std::io::Error) -> Failure {
    if error.kind() == std::io::ErrorKind::Unsupported {
        return Failure::Unsupported(format!("{what}: {error}"));
    }
    Failure::system(what, error)
}

/// A call that moved fewer bytes than asked.
pub fn short(what: &str, got: usize, requested: usize) -> Failure {
    Failure::Failed(format!(
        "only {got} of {requested} B were {what} by one call"
    ))
}
