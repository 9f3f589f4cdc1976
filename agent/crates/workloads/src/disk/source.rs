//! What the Everest tests read: a file of known content, or a whole device that was named twice.

use super::content::STAMPED;
use super::entry;
use super::file::{system, TestFile};
use super::interface;
use super::served::Before;
use super::sweep::Pass;
use super::workdir::Workdir;
use pentathlon_harness::measure::{Context, Failure};
use pentathlon_os::disk::open::{open, read_at, How};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

pub enum Source {
    File {
        file: Box<TestFile>,
        direct: bool,
    },
    Device {
        path: PathBuf,
        bytes: u64,
        block: usize,
        direct: bool,
    },
}

/// The source that the parameters request.
pub fn of(context: &Context<'_>, workdir: &Workdir, block: usize) -> Result<Source, Failure> {
    let direct = context.parameters.text("method") == "direct";
    let device = context.parameters.text("device");
    let again = context.parameters.text("device_again");
    if device.is_empty() && again.is_empty() {
        let bytes = entry::size(context, workdir)?;
        if block as u64 > bytes {
            return Err(Failure::Failed(format!(
                "a block of {block} B does not fit into a file of {bytes} B"
            )));
        }
        let file = TestFile::make(workdir, "file", bytes, 0, context.seed)?;
        if direct {
            // Refused here rather than once for each case.
            interface::open_direct(&file, false)?;
        }
        return Ok(Source::File {
            file: Box::new(file),
            direct,
        });
    }
    if device != again {
        return Err(Failure::Failed(format!(
            "'device' is '{device}' and 'device_again' is '{again}': a device is only read if both \
             name the same one"
        )));
    }
    of_device(Path::new(device), block, direct)
}

fn of_device(path: &Path, block: usize, direct: bool) -> Result<Source, Failure> {
    let what = format!("opening {} for reading", path.display());
    let mut file = open(path, How::READ).map_err(|e| Failure::system(&what, &e))?;
    if !is_device(&file) {
        return Err(Failure::Failed(format!(
            "'device' is '{}', it must be a block device",
            path.display()
        )));
    }
    // Seeking to the end gives the size of a block device on every Unix.
    let bytes = file
        .seek(SeekFrom::End(0))
        .map_err(|e| system("asking for the size of the device", &e))?;
    if (block as u64) > bytes {
        return Err(Failure::Failed(format!(
            "a block of {block} B does not fit into a device of {bytes} B"
        )));
    }
    Ok(Source::Device {
        path: path.to_path_buf(),
        bytes,
        block,
        direct,
    })
}

#[cfg(unix)]
fn is_device(file: &File) -> bool {
    use std::os::unix::fs::FileTypeExt;
    file.metadata()
        .is_ok_and(|found| found.file_type().is_block_device())
}

/// Elsewhere a device's name is the only sign (`\\.\PhysicalDrive0`), and it was named twice.
#[cfg(not(unix))]
fn is_device(_file: &File) -> bool {
    true
}

impl Source {
    pub fn bytes(&self) -> u64 {
        match self {
            Self::File { file, .. } => file.bytes,
            Self::Device { bytes, .. } => *bytes,
        }
    }

    pub fn open(&self) -> Result<File, Failure> {
        match self {
            Self::File { file, direct: true } => interface::open_direct(file, false),
            Self::File { file, .. } => file.reopen(How::READ),
            Self::Device { path, direct, .. } => {
                let how = How {
                    direct: *direct,
                    ..How::READ
                };
                open(path, how).map_err(|e| system("opening the device", &e))
            }
        }
    }

    pub fn forget(&self) -> Result<(), Failure> {
        match self {
            Self::File { file, .. } => file.forget(),
            // A device's pages belong to everybody who uses it: they stay where they are.
            Self::Device { .. } => Ok(()),
        }
    }

    pub fn before(&self) -> Result<Before, Failure> {
        match self {
            Self::File { file, direct } => file.before(*direct, file.bytes),
            // Of a device the system does not report its cached pages (mincore(2)).
            Self::Device { direct, .. } => Ok(Before::read(None, 0, None, *direct)),
        }
    }

    /// The checksum of a pass whose bytes were right, as far as that can be known.
    pub fn proven(&self, pass: &Pass, place: impl Fn(u64) -> u64) -> Result<u64, Failure> {
        match self {
            Self::File { file, .. } => {
                let chunk = (pass.bytes / pass.chunks) as usize;
                file.proven(pass.sum, pass.chunks, chunk, place)
            }
            Self::Device { block, .. } => self.read_twice(place(0), *block),
        }
    }

    /// Of a device only this is known: what is read twice is the same.
    fn read_twice(&self, position: u64, block: usize) -> Result<u64, Failure> {
        let file = self.open()?;
        let mut parts = [
            super::content::Aligned::new(block),
            super::content::Aligned::new(block),
        ];
        for part in &mut parts {
            let read = read_at(&file, part.bytes_mut(), position)
                .map_err(|e| system("reading the device", &e))?;
            if read != block {
                return Err(super::file::short("read", read, block));
            }
        }
        if parts[0].bytes() != parts[1].bytes() {
            return Err(Failure::Invalid(
                "two reads of one block of the device differ: it is being written to".into(),
            ));
        }
        Ok(crate::cpu::checksum::of_words([block as u64, STAMPED]))
    }
}
