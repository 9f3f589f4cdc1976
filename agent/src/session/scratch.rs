//! A private directory for the workloads' files, removed at the end; those of agents that were
//! killed are removed at the beginning.
//!
//! Each directory holds a file that its supervisor has locked for as long as it lives. Whoever gets
//! the lock knows that the supervisor is gone, whatever became of its process id.

use std::fs::{DirEntry, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const PREFIX: &str = "pentathlon-";
const LOCK: &str = "lock";

/// Removes its directory when dropped; the supervisor holds it, so a worker that crashes or is
/// killed leaves nothing behind.
pub struct Scratch {
    path: PathBuf,
    /// None where the file system has no locks: then nobody removes the directory but this agent.
    lock_file: Option<File>,
}

impl Scratch {
    /// Makes a new directory in `parent`, or in the system's temporary directory.
    pub fn new(parent: Option<&Path>) -> io::Result<Self> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_path_buf);
        std::fs::create_dir_all(&parent)?;
        let name = format!(
            "{PREFIX}{}-{:x}",
            std::process::id(),
            crate::clock::monotonic_ns()
        );
        let path = parent.join(name);
        std::fs::create_dir(&path)?;
        let scratch = Self {
            lock_file: lock(&path).ok(),
            path,
        };
        if let Ok(own) = std::fs::symlink_metadata(&scratch.path) {
            remove_abandoned(&parent, &own);
        }
        Ok(scratch)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Lists directories outside of a scratch directory that go with it.
const ALSO: &str = "also-remove";

/// Notes an empty directory, such as a control group, that a workload is about to make and that has
/// to go even if the workload does not live to remove it. `scratch` is the workload's own.
pub fn also_remove(scratch: &Path, directory: &Path) -> io::Result<()> {
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(scratch.join(ALSO))?;
    writeln!(file, "{}", directory.display())
}

/// Removes a workload's scratch directory and what it noted by [`also_remove`].
pub fn clear(scratch: &Path) {
    let noted = std::fs::read_to_string(scratch.join(ALSO)).unwrap_or_default();
    for directory in noted.lines() {
        // Only empty ones: nothing that holds anything is ours to remove.
        std::fs::remove_dir(directory).ok();
    }
    std::fs::remove_dir_all(scratch).ok();
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Windows removes no file that is open. Who gets the lock now removes the same directory.
        if cfg!(windows) {
            drop(self.lock_file.take());
        }
        std::fs::remove_dir_all(&self.path).ok();
    }
}

/// The locked file of a new directory. It gets its name when it is locked, so that nobody finds it
/// without its lock.
fn lock(directory: &Path) -> io::Result<File> {
    let draft = directory.join("lock.new");
    let file = File::create_new(&draft)?;
    let locked = file.try_lock().map_err(io::Error::from);
    match locked.and_then(|()| std::fs::rename(&draft, directory.join(LOCK))) {
        Ok(()) => Ok(file),
        Err(error) => {
            std::fs::remove_file(&draft).ok();
            Err(error)
        }
    }
}

/// Removes the directories of agents of this user that have ended without doing so.
fn remove_abandoned(parent: &Path, own: &Metadata) {
    let Ok(entries) = std::fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten().filter(|entry| is_ours(entry, own)) {
        let path = entry.path();
        // Without the file it is somebody else's, or not locked yet.
        let Ok(file) = File::open(path.join(LOCK)) else {
            continue;
        };
        if file.try_lock().is_ok() {
            std::fs::remove_dir_all(path).ok();
        }
    }
}

/// Whether an entry is a directory as `Scratch::new` makes them, and not another user's.
fn is_ours(entry: &DirEntry, own: &Metadata) -> bool {
    let name = entry.file_name();
    let parts = name
        .to_str()
        .and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'));
    let named = parts.is_some_and(|(process, time)| {
        process.parse::<u32>().is_ok() && u64::from_str_radix(time, 16).is_ok()
    });
    // Of a link this is the link's own.
    named
        && entry
            .metadata()
            .is_ok_and(|found| found.is_dir() && same_owner(&found, own))
}

#[cfg(unix)]
fn same_owner(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    one.uid() == other.uid()
}

/// The temporary directory is the user's own there.
#[cfg(not(unix))]
fn same_owner(_one: &Metadata, _other: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_dead_agent_left_is_removed() {
        let name = format!("scratch-test-{}", std::process::id());
        let parent = std::env::temp_dir().join(name);
        let make = |name: &str, locked: bool| {
            let path = parent.join(name);
            std::fs::create_dir_all(path.join("0-0")).unwrap();
            if locked {
                File::create(path.join(LOCK)).unwrap();
            }
            path
        };
        // A file without a holder is what a killed agent leaves, whoever has its process id now.
        let dead = make(&format!("{PREFIX}{}-1f", std::process::id()), true);
        let unlocked = make("pentathlon-1-2", false);
        let other = make("pentathlon-results-1", true);
        let mine = make("pentathlon-1-2-3", true);
        let living = Scratch::new(Some(&parent)).unwrap();
        assert!(!dead.exists());
        for kept in [&unlocked, &other, &mine] {
            assert!(kept.exists(), "{}", kept.display());
        }
        let second = Scratch::new(Some(&parent)).unwrap();
        assert!(living.path().exists() && second.path().exists());
        drop((living, second));
        assert_eq!(std::fs::read_dir(&parent).unwrap().count(), 3);
        std::fs::remove_dir_all(&parent).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_left_alone() {
        let name = format!("scratch-link-{}", std::process::id());
        let parent = std::env::temp_dir().join(name);
        let target = parent.join("target");
        std::fs::create_dir_all(&target).unwrap();
        File::create(target.join(LOCK)).unwrap();
        std::os::unix::fs::symlink(&target, parent.join("pentathlon-1-2")).unwrap();
        drop(Scratch::new(Some(&parent)).unwrap());
        assert!(target.join(LOCK).exists());
        std::fs::remove_dir_all(&parent).unwrap();
    }

    #[test]
    fn what_was_noted_goes_with_the_scratch_directory_unless_it_holds_something() {
        let scratch = Scratch::new(None).unwrap();
        let own = scratch.path().join("0-0");
        let outside = Scratch::new(None).unwrap();
        let (empty, full) = (outside.path().join("empty"), outside.path().join("full"));
        std::fs::create_dir_all(&own).unwrap();
        for directory in [&empty, &full, &outside.path().join("never-made")] {
            also_remove(&own, directory).unwrap();
        }
        std::fs::create_dir(&empty).unwrap();
        std::fs::create_dir_all(full.join("inside")).unwrap();
        clear(&own);
        assert!(!own.exists() && !empty.exists());
        assert!(full.join("inside").exists());
    }
}
