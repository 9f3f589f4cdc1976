//! `disk.metadata`: many small files in many directories: made, looked at, listed, renamed, removed.

use super::entry;
use super::file::system;
use super::shuffle::Shuffle;
use super::workdir::Workdir;
use crate::cpu::checksum::of_words;
use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{Context, Failure, Reading};
use pentathlon_harness::Random;
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

pub struct Metadata;

const OPERATIONS: [&str; 5] = ["create", "stat", "readdir", "rename", "unlink"];

impl pentathlon_harness::Workload for Metadata {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "disk.metadata",
            title: "Storm of metadata",
            summary: "Small files are made in many directories, looked at in random order, \
                      listed, renamed and removed; operations per second of each phase.",
            source: "beyond the papers; as file servers, mail stores and compilers work",
            parameters: vec![
                Parameter::integer("files", 2000)
                    .limits(1.0, 1e7)
                    .described("files in all directories together"),
                Parameter::integer("directories", 20)
                    .limits(1.0, 1e5)
                    .described("directories that they are spread over"),
                Parameter::integer("content_bytes", 512)
                    .unit("B")
                    .limits(8.0, 1_048_576.0)
                    .described("bytes written to each file"),
                entry::directory(),
            ],
            factors: vec![Factor::category("operation", "Operation")],
            metrics: vec![Metric::higher("operations", "Operations per second", "1/s")],
            checksum: "files, their sizes and a sum of their contents, read back before they are \
                       removed",
            semantics: Semantics {
                linux: "create: open(2) with O_CREAT|O_EXCL, write(2), close(2); stat: statx(2); \
                        readdir: getdents64(2) of every directory, one operation for each name; \
                        rename(2) within the directory; unlink(2). Nothing is made durable: the \
                        system writes back later",
                windows: "CreateFile with CREATE_NEW, WriteFile, CloseHandle; \
                          GetFileInformationByHandle; FindFirstFile and FindNextFile; MoveFileEx; \
                          DeleteFile",
            },
        }
    }

    fn switches(&self) -> bool {
        true
    }

    fn timeout_s(&self) -> Option<f64> {
        Some(300.0)
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let files = context.parameters.integer("files");
        let directories = context.parameters.integer("directories");
        let content_bytes = context.parameters.integer("content_bytes") as usize;
        let workdir = Workdir::of(context)?;
        // A file takes a block and an inode.
        workdir
            .require(files.saturating_mul((content_bytes as u64).next_multiple_of(4096) + 512))?;
        let mut random = Random::new(context.seed);
        let mut content = vec![0; content_bytes];
        for part in content.chunks_mut(8) {
            part.copy_from_slice(&random.next().to_le_bytes()[..part.len()]);
        }
        let storm = Storm {
            root: workdir.file("storm"),
            files,
            directories,
            content,
            order: Shuffle::new(files, context.seed),
        };
        context.rounds(&Case::new(), |clock, _| {
            let result = storm.round(clock);
            fs::remove_dir_all(&storm.root).ok();
            result
        });
        Ok(())
    }
}

struct Storm {
    root: PathBuf,
    files: u64,
    directories: u64,
    content: Vec<u8>,
    order: Shuffle,
}

impl Storm {
    fn path(&self, directory: &Path, prefix: char, n: u64) -> PathBuf {
        directory.join(format!("{prefix}{n:08}"))
    }

    fn directory(&self, n: u64) -> PathBuf {
        self.root.join(format!("d{:05}", n % self.directories))
    }

    fn round(&self, clock: &Clock) -> Result<Vec<Reading>, Failure> {
        for n in 0..self.directories {
            fs::create_dir_all(self.directory(n)).map_err(|e| system("making a directory", &e))?;
        }
        // Names are made before anything is timed.
        let paths = |prefix| -> Vec<PathBuf> {
            (0..self.files)
                .map(|n| self.path(&self.directory(n), prefix, n))
                .collect()
        };
        let (old, new) = (paths('a'), paths('b'));
        let each = |what: &str, action: &mut dyn FnMut(usize) -> io::Result<()>| {
            let from = clock.ticks();
            for n in 0..self.files {
                action(self.order.at(n) as usize).map_err(|e| system(what, &e))?;
            }
            Ok::<f64, Failure>(clock.elapsed_ns(from, clock.ticks()))
        };
        let mut content = self.content.clone();
        let created = each("making a file", &mut |n| {
            content[..8].copy_from_slice(&(n as u64).to_le_bytes());
            let mut file = fs::File::options()
                .write(true)
                .create_new(true)
                .open(&old[n])?;
            file.write_all(&content)
        })?;
        let mut bytes = 0;
        let looked_at = each("looking at a file", &mut |n| {
            bytes += fs::metadata(&old[n])?.len();
            Ok(())
        })?;
        if bytes != self.files * self.content.len() as u64 {
            return Err(Failure::Invalid(format!(
                "the files have {bytes} B together and were written with {}",
                self.files * self.content.len() as u64
            )));
        }
        let from = clock.ticks();
        let names = self.list().map_err(|e| system("listing", &e))?;
        let listed = clock.elapsed_ns(from, clock.ticks());
        if names != self.files {
            return Err(Failure::Invalid(format!(
                "{names} names were listed and {} files made",
                self.files
            )));
        }
        let renamed = each("renaming a file", &mut |n| fs::rename(&old[n], &new[n]))?;
        let checksum = self.verify(&new)?;
        let removed = each("removing a file", &mut |n| fs::remove_file(&new[n]))?;
        if self.list().map_err(|e| system("listing", &e))? != 0 {
            return Err(Failure::Invalid("removed files are still listed".into()));
        }
        let times = [created, looked_at, listed, renamed, removed];
        Ok(OPERATIONS
            .iter()
            .zip(times)
            .map(|(&operation, elapsed_ns)| Reading {
                metric: "operations",
                case: Case::new().with("operation", operation),
                value: self.files as f64 / elapsed_ns * 1e9,
                operations: self.files,
                elapsed_ns,
                checksum,
            })
            .collect())
    }

    fn list(&self) -> io::Result<u64> {
        let mut names = 0;
        for n in 0..self.directories {
            for name in fs::read_dir(self.directory(n))? {
                std::hint::black_box(name?.file_name());
                names += 1;
            }
        }
        Ok(names)
    }

    /// Reads every file back.
    fn verify(&self, paths: &[PathBuf]) -> Result<u64, Failure> {
        let mut wanted = self.content.clone();
        let mut found = Vec::with_capacity(wanted.len());
        for (n, path) in paths.iter().enumerate() {
            wanted[..8].copy_from_slice(&(n as u64).to_le_bytes());
            found.clear();
            fs::File::open(path)
                .and_then(|mut file| file.read_to_end(&mut found))
                .map_err(|e| system("reading a file back", &e))?;
            if found != wanted {
                return Err(Failure::Invalid(format!(
                    "file {n} does not hold what was written to it"
                )));
            }
        }
        let content = self.content[8..].iter().map(|&byte| u64::from(byte));
        Ok(of_words(
            [self.files, self.directories].into_iter().chain(content),
        ))
    }
}
