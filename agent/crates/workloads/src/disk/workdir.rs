//! Where the files of a disk workload lie: the scratch directory, or a private one in a directory
//! that was named.

use super::file::MAKE;
use super::served;
use pentathlon_harness::measure::{Context, Failure};
use pentathlon_harness::{private_directory, Scratch};
use pentathlon_os::disk::open::open;
use pentathlon_os::disk::{pages, place};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Left free on every file system: 64 MiB or a fiftieth of what is free, whichever is more.
const RESERVE: u64 = 64 << 20;

/// A directory to work in; a named one's private part is removed when dropped.
#[derive(Debug)]
pub struct Workdir {
    path: PathBuf,
    /// Held for what it does when dropped.
    _private: Option<Scratch>,
    pub kind: Option<String>,
    /// Whether the system reports which pages of a file it holds.
    pub reports_pages: bool,
}

impl Workdir {
    /// The directory that the parameter `directory` requests, with its file system and read-ahead
    /// for the record.
    pub fn of(context: &mut Context<'_>) -> Result<Self, Failure> {
        let directory = context.parameters.text("directory").to_owned();
        let workdir = Self::make(&directory, &context.scratch)?;
        let read_ahead = place::read_ahead(&workdir.path);
        context.counter(
            "disk.place".into(),
            json!({
                "workload": context.workload.id,
                "file_system": workdir.kind,
                "free_bytes": place::free_bytes(&workdir.path).ok().flatten(),
                "read_ahead_bytes": read_ahead.as_ref().map(|(bytes, _)| bytes),
                "read_ahead_source": read_ahead.as_ref().map(|(_, source)| source),
                "tells_cached_pages": workdir.reports_pages,
                "in_memory": served::is_memory(workdir.kind.as_deref()),
            }),
        );
        Ok(workdir)
    }

    fn make(directory: &str, scratch: &Path) -> Result<Self, Failure> {
        let private = if directory.is_empty() {
            None
        } else {
            let parent = Path::new(directory);
            if !parent.is_absolute() || !parent.is_dir() {
                return Err(Failure::Failed(format!(
                    "'directory' is '{directory}', it must be the absolute path of a directory"
                )));
            }
            let path = private_directory(parent, scratch);
            let making = format!("making {}", path.display());
            Some(Scratch::at(path).map_err(|e| Failure::system(&making, &e))?)
        };
        let path = private.as_ref().map_or(scratch, Scratch::path).to_owned();
        let kind = place::kind(&path);
        let mut workdir = Self {
            path,
            _private: private,
            kind,
            reports_pages: false,
        };
        workdir.reports_pages = workdir.probe_pages();
        Ok(workdir)
    }

    /// A file that was only made longer has no page in any cache: a system that says otherwise
    /// (gVisor's mincore(2) calls every page resident) does not report.
    fn probe_pages(&self) -> bool {
        const BYTES: u64 = 1 << 16;
        let path = self.file("probe");
        let found = open(&path, MAKE).and_then(|file| {
            file.set_len(BYTES)?;
            pages::resident(&file, BYTES)
        });
        std::fs::remove_file(&path).ok();
        found.is_ok_and(|found| found.resident == 0)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Whether there is room for `bytes` and the reserve.
    pub fn require(&self, bytes: u64) -> Result<(), Failure> {
        let free = place::free_bytes(&self.path)
            .map_err(|e| Failure::system("asking for the free space", &e))?;
        free.map_or(Ok(()), |free| enough(bytes, free))
    }
}

fn enough(bytes: u64, free: u64) -> Result<(), Failure> {
    let reserve = RESERVE.max(free / 50);
    if free.checked_sub(reserve).is_none_or(|room| bytes > room) {
        return Err(Failure::Unsupported(format!(
            "{bytes} B are to be written and {reserve} B kept free, but the file system has \
             {free} B free: name another directory or a smaller size"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_room_is_refused_in_one_sentence() {
        assert!(enough(1 << 20, 1 << 30).is_ok());
        let Err(Failure::Unsupported(reason)) = enough(1 << 30, (1 << 30) + 100) else {
            panic!("no room for the reserve");
        };
        assert!(
            reason.contains("1073741824 B are to be written"),
            "{reason}"
        );
        assert!(enough(u64::MAX, u64::MAX).is_err(), "no overflow");
    }

    #[test]
    fn a_named_directory_gets_a_private_part_that_goes_again() {
        let parent = std::env::temp_dir();
        let scratch = Path::new("/x").join(format!("pentathlon-workdir-{}", std::process::id()));
        let scratch = scratch.join("3-0");
        let workdir = Workdir::make(parent.to_str().unwrap(), &scratch).unwrap();
        let path = workdir.path.clone();
        assert!(path.is_dir() && path != parent);
        assert_eq!(path, private_directory(&parent, &scratch));
        std::fs::write(workdir.file("x"), b"x").unwrap();
        drop(workdir);
        assert!(!path.exists() && parent.exists());
    }

    #[test]
    fn a_relative_or_missing_directory_is_refused() {
        for wrong in ["here", "/no/such/place"] {
            let refused = Workdir::make(wrong, Path::new("/x/y"));
            assert!(matches!(refused, Err(Failure::Failed(reason)) if reason.contains(wrong)));
        }
    }
}
