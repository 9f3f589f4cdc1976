//! One replay of a trace: files made as the trace found them, operations timed in their order,
//! files compared with the model.

use super::format::{Operation, Trace};
use super::model::{generation, File as Model, Outcome};
use crate::disk::content::{observed, Aligned, Content, STAMPED};
use crate::disk::file::{short, system, MAKE};
use crate::disk::served::{Before, Observation};
use crate::disk::workdir::Workdir;
use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::Failure;
use pentathlon_os::disk::open::{self, How};
use pentathlon_os::disk::{pages, place};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

const STEP: u64 = 1 << 20;
/// Files in one directory.
const TOGETHER: usize = 100;

/// The files of a trace on the disk.
pub struct Stage<'a> {
    trace: &'a Trace,
    outcome: &'a Outcome,
    paths: Vec<PathBuf>,
    root: PathBuf,
    kind: Option<String>,
    reports_pages: bool,
    made: bool,
}

/// What a replay took.
pub struct Played {
    pub elapsed_ns: f64,
    pub sum: u64,
    pub observation: Observation,
}

impl<'a> Stage<'a> {
    pub fn new(trace: &'a Trace, outcome: &'a Outcome, root: PathBuf, workdir: &Workdir) -> Self {
        let path = |n: usize| {
            root.join(format!("d{}", n / TOGETHER))
                .join(format!("f{n}"))
        };
        Self {
            paths: (0..trace.files.len()).map(path).collect(),
            trace,
            outcome,
            root,
            kind: workdir.kind.clone(),
            reports_pages: workdir.reports_pages,
            made: false,
        }
    }

    /// Makes the files as the trace found them: all at first, later those that it changes. They are
    /// on the device afterwards, and the cache has forgotten them where it can.
    pub fn prepare(&mut self, content: &mut Content) -> Result<(), Failure> {
        for (n, (path, bytes)) in self.paths.iter().zip(&self.trace.files).enumerate() {
            if self.made && !self.outcome.files[n].changes {
                continue;
            }
            let directory = path.parent().expect("made of root and name");
            fs::create_dir_all(directory).map_err(|e| system("making a directory", &e))?;
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(system("removing a file", &error))
                }
                _ => {}
            }
            if let Some(bytes) = *bytes {
                make(path, bytes, content, generation(n, false))
                    .map_err(|e| system("making a file of the trace", &e))?;
            }
        }
        self.made = true;
        if place::sync_file_system(&self.root).is_err() {
            for path in self.present() {
                let file = open_for(path, true)?;
                file.sync_all()
                    .map_err(|e| system("writing a file to the device", &e))?;
            }
        }
        Ok(())
    }

    fn present(&self) -> impl Iterator<Item = &PathBuf> {
        let there = self.paths.iter().zip(&self.trace.files);
        there.filter_map(|(path, bytes)| bytes.map(|_| path))
    }

    /// Drops the files' pages from the cache; returns the share that stayed, where that is known.
    fn forget(&self) -> Result<Option<f64>, Failure> {
        let (mut pages, mut left) = (0, 0);
        let mut known = self.reports_pages;
        for (path, bytes) in self.paths.iter().zip(&self.trace.files) {
            let Some(bytes) = *bytes else { continue };
            let file = open_for(path, false)?;
            let resident = pages::drop_cached(&file).and_then(|()| pages::resident(&file, bytes));
            match resident {
                Ok(found) => {
                    pages += found.pages;
                    left += found.resident;
                }
                Err(_) => known = false,
            }
        }
        Ok((known && pages > 0).then(|| left as f64 / pages as f64))
    }

    /// Replays every operation without waiting for the times of the recording; at the end all that
    /// was written is made durable, which is timed too.
    pub fn play(&self, content: &mut Content, clock: &Clock) -> Result<Played, Failure> {
        let cached = self.forget()?;
        let mut buffer = Aligned::new(self.outcome.longest as usize);
        let mut open: Vec<Vec<File>> = self.paths.iter().map(|_| Vec::new()).collect();
        let before = Before::of(cached, self.kind.as_deref(), false);
        let mut sum = 0u64;
        let from = clock.ticks();
        for step in &self.trace.steps {
            let path = &self.paths[step.file];
            let handles = &mut open[step.file];
            match step.operation {
                Operation::Open => {
                    handles.push(open_for(path, self.outcome.files[step.file].changes)?);
                }
                Operation::Create => handles.push(
                    File::options()
                        .read(true)
                        .write(true)
                        .create(true)
                        .truncate(true)
                        .open(path)
                        .map_err(|e| system("making a file", &e))?,
                ),
                Operation::Close => drop(handles.pop()),
                Operation::Stat => {
                    fs::metadata(path).map_err(|e| system("looking at a file", &e))?;
                }
                Operation::Unlink => {
                    fs::remove_file(path).map_err(|e| system("removing a file", &e))?;
                }
                Operation::Sync => latest(handles)
                    .sync_all()
                    .map_err(|e| system("making a file durable", &e))?,
                Operation::Read { position, bytes } => {
                    let buffer = &mut buffer.bytes_mut()[..bytes as usize];
                    let read = open::read_at(latest(handles), buffer, position)
                        .map_err(|e| system("reading", &e))?;
                    if read != buffer.len() {
                        return Err(short("read", read, buffer.len()));
                    }
                    sum = sum.wrapping_add(observed(position, buffer));
                }
                Operation::Write { position, bytes } => {
                    let bytes =
                        content.fresh(position, bytes as usize, generation(step.file, true));
                    let written = open::write_at(latest(handles), bytes, position)
                        .map_err(|e| system("writing", &e))?;
                    if written != bytes.len() {
                        return Err(short("written", written, bytes.len()));
                    }
                }
            }
        }
        drop(open);
        for (path, model) in self.paths.iter().zip(&self.outcome.files) {
            if model.changes && model.bytes.is_some() {
                open_for(path, true)?
                    .sync_all()
                    .map_err(|e| system("making a file durable", &e))?;
            }
        }
        let elapsed_ns = clock.elapsed_ns(from, clock.ticks());
        Ok(Played {
            elapsed_ns,
            sum,
            observation: before.judge(self.outcome.read_bytes),
        })
    }

    /// Compares every file that the trace changed with the model.
    pub fn verify(&self, content: &mut Content) -> Result<(), Failure> {
        let mut buffer = vec![0; STAMPED as usize];
        let files = self.paths.iter().zip(&self.outcome.files).enumerate();
        for (n, (path, model)) in files {
            match model.bytes {
                None if path.exists() => {
                    return Err(Failure::Invalid(format!(
                        "file {n} of the trace should be gone and is there"
                    )))
                }
                Some(bytes) if model.changes => {
                    compare(path, bytes, model, content, &mut buffer).map_err(|e| {
                        match e.kind() {
                            io::ErrorKind::InvalidData => Failure::Invalid(format!(
                                "file {n} of the trace does not hold what was written to it: {e}"
                            )),
                            _ => system("reading a file back", &e),
                        }
                    })?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.root).ok();
    }
}

fn latest(handles: &[File]) -> &File {
    handles.last().expect("the model saw that it is open")
}

fn open_for(path: &Path, write: bool) -> Result<File, Failure> {
    let how = if write { How::WRITE } else { How::READ };
    open::open(path, how).map_err(|e| system("opening a file", &e))
}

fn make(path: &Path, bytes: u64, content: &mut Content, generation: u64) -> io::Result<()> {
    let file = open::open(path, MAKE)?;
    let mut position = 0;
    while position < bytes {
        let length = (bytes - position).min(STEP) as usize;
        let part = content.fresh(position, length, generation);
        if open::write_at(&file, part, position)? != length {
            return Err(io::ErrorKind::WriteZero.into());
        }
        position += length as u64;
    }
    Ok(())
}

fn compare(
    path: &Path,
    bytes: u64,
    model: &Model,
    content: &mut Content,
    buffer: &mut [u8],
) -> io::Result<()> {
    let wrong = |what: String| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    let file = open::open(path, How::READ)?;
    let found = file.metadata()?.len();
    if found != bytes {
        return wrong(format!("it has {found} B and should have {bytes}"));
    }
    for (page, stamp) in model.stamps.iter().enumerate() {
        let position = page as u64 * STAMPED;
        let length = (bytes - position).min(STAMPED) as usize;
        let read = open::read_at(&file, &mut buffer[..length], position)?;
        let head = length.min(8);
        // Behind the stamp a page is the same in every generation.
        let rest = &content.fresh(position, length, 0)[head..];
        if read != length
            || buffer[..head] != stamp.to_le_bytes()[..head]
            || &buffer[head..length] != rest
        {
            return wrong(format!("page {page}"));
        }
    }
    Ok(())
}
