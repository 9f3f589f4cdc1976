//! The fresh directory of a run: the command's files, and nothing else.

use pentathlon_harness::measure::Failure;
use std::io;
use std::path::{Path, PathBuf};

/// Where a program may put files for a while; beside its own directory, so that it finds there what
/// it was given alone.
pub fn temporary(directory: &Path) -> PathBuf {
    directory.with_extension("tmp")
}

/// Makes the directory, with what is in `files`.
pub fn make(directory: &Path, files: Option<&Path>) -> Result<(), Failure> {
    let failed = |path: &Path, error: io::Error| {
        Failure::Failed(format!(
            "the directory for a run: {}: {error}",
            path.display()
        ))
    };
    for path in [directory.to_path_buf(), temporary(directory)] {
        std::fs::create_dir(&path).map_err(|error| failed(&path, error))?;
    }
    let Some(files) = files else {
        return Ok(());
    };
    let entries = std::fs::read_dir(files).map_err(|error| failed(files, error))?;
    for entry in entries {
        let entry = entry.map_err(|error| failed(files, error))?;
        let path = entry.path();
        show(&path, &directory.join(entry.file_name())).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}

/// A link: a copy of large files would take long and be in other pages of memory each time.
#[cfg(unix)]
fn show(file: &Path, place: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(file, place)
}

/// A copy: links need a privilege there.
#[cfg(not(unix))]
fn show(file: &Path, place: &Path) -> io::Result<()> {
    if !file.is_dir() {
        return std::fs::copy(file, place).map(drop);
    }
    std::fs::create_dir(place)?;
    for entry in std::fs::read_dir(file)? {
        let entry = entry?;
        show(&entry.path(), &place.join(entry.file_name()))?;
    }
    Ok(())
}

/// So many entries are looked at for a file that is too large.
const MOST_ENTRIES: usize = 100_000;

/// The path, below the directory of a run, of a file of more than so many bytes that the run wrote.
/// What it was given are links.
pub fn larger(directory: &Path, bytes: u64) -> Option<PathBuf> {
    let mut pending = vec![directory.to_path_buf(), temporary(directory)];
    let mut looked_at = 0;
    while let Some(place) = pending.pop() {
        for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
            looked_at += 1;
            let Ok(kind) = entry.metadata() else {
                continue;
            };
            if kind.is_file() && kind.len() > bytes {
                let path = entry.path();
                return Some(
                    path.strip_prefix(directory)
                        .map_or(path.clone(), Path::to_owned),
                );
            }
            if kind.is_dir() {
                pending.push(entry.path());
            }
            if looked_at == MOST_ENTRIES {
                return None;
            }
        }
    }
    None
}

pub fn remove(directory: &Path) {
    std::fs::remove_dir_all(directory).ok();
    std::fs::remove_dir_all(temporary(directory)).ok();
}
