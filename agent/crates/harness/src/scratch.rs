//! A private directory for the workloads' files, removed at the end; those of agents that were
//! killed are removed at the beginning.
//!
//! Each directory holds a file that its agent has locked for as long as it lives (flock(2),
//! LockFileEx). Whoever gets the lock knows that the agent is gone, whatever became of its process
//! id. A lock may be unknown to other kernels that see the same directory (hostfs, 9p, most FUSE),
//! so the file also states the boot that it was made in; of another boot, only what has outlived
//! every workload is removed.

use std::fs::{DirEntry, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

const PREFIX: &str = "pentathlon-";
const LOCK: &str = "lock";

/// A day is the longest that a workload may take (`protocol::request`), and an hour for clocks that
/// differ.
const OUTLIVED: Duration = Duration::from_secs(25 * 3600);

/// Removes its directory when dropped; the supervisor holds it, so a worker that crashes or is
/// killed leaves nothing behind.
#[derive(Debug)]
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
        Self::at(parent.join(name))
    }

    /// Makes the directory `path`, and removes what agents that were killed left beside it.
    pub fn at(path: PathBuf) -> io::Result<Self> {
        std::fs::create_dir(&path)?;
        let scratch = Self {
            lock_file: lock(&path).ok(),
            path,
        };
        if let Some(file) = &scratch.lock_file {
            remove_abandoned(&scratch.path, file);
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
    let mut file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&draft)?;
    let locked = file.try_lock().map_err(io::Error::from);
    let reported = locked.and_then(|()| file.write_all(boot().unwrap_or_default().as_bytes()));
    match reported.and_then(|()| std::fs::rename(&draft, directory.join(LOCK))) {
        Ok(()) => Ok(file),
        Err(error) => {
            std::fs::remove_file(&draft).ok();
            Err(error)
        }
    }
}

/// What distinguishes this boot of this system from every other (random(4)); none where the system does not
/// say.
fn boot() -> Option<String> {
    if cfg!(windows) {
        // Remote directories (SMB) know the locks of every system, so any boot is like this one.
        return Some("windows".into());
    }
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}

/// Removes the directories beside `own` of agents of this user that have ended without doing so;
/// `own_lock` is new, so its time is the present as the file system has it.
fn remove_abandoned(own: &Path, own_lock: &File) {
    let (Some(parent), Ok(metadata)) = (own.parent(), std::fs::symlink_metadata(own)) else {
        return;
    };
    let Ok(entries) = std::fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten().filter(|entry| is_ours(entry, &metadata)) {
        let path = entry.path();
        // Without the file it is somebody else's, or not locked yet. An exclusive lock needs a file
        // open for writing on NFS (flock(2)).
        let file = File::options().read(true).write(true).open(path.join(LOCK));
        let Ok(mut file) = file else {
            continue;
        };
        if file.try_lock().is_ok() && is_over(&mut file, own_lock) {
            // Windows removes no file that is open.
            drop(file);
            std::fs::remove_dir_all(path).ok();
        }
    }
}

/// Whether a lock that nobody here holds is held by nobody elsewhere.
fn is_over(file: &mut File, own_lock: &File) -> bool {
    let mut reported = String::new();
    if file.read_to_string(&mut reported).is_ok() && boot().is_some_and(|boot| boot == reported) {
        return true;
    }
    let time = |file: &File| file.metadata().and_then(|found| found.modified()).ok();
    let (Some(made), Some(now)) = (time(file), time(own_lock)) else {
        return false;
    };
    now.duration_since(made).is_ok_and(|age| age > OUTLIVED)
}

/// Whether an entry is a directory as agents make them, and not another user's: `PREFIX`, process,
/// time, and inside a directory that a request named also the workload's own part (its index and
/// process, or those of a competitor).
fn is_ours(entry: &DirEntry, own: &Metadata) -> bool {
    let name = entry.file_name();
    let parts: Vec<&str> = name
        .to_str()
        .and_then(|name| name.strip_prefix(PREFIX))
        .map(|rest| rest.split('-').collect())
        .unwrap_or_default();
    let number = |text: &&str| text.parse::<u32>().is_ok();
    let named = match parts[..] {
        [process, time, ref rest @ ..] => {
            let inside = match rest {
                [index, run] => (*index == "competitor" || number(index)) && number(run),
                _ => rest.is_empty(),
            };
            number(&process) && u64::from_str_radix(time, 16).is_ok() && inside
        }
        _ => false,
    };
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

/// The private directory of a run inside a named one: its name is that of the run's scratch
/// directory, so that the supervisor can remove it after a worker that was killed.
pub fn private_directory(directory: &Path, scratch: &Path) -> PathBuf {
    let name: Vec<_> = [
        scratch.parent().and_then(Path::file_name),
        scratch.file_name(),
    ]
    .into_iter()
    .flatten()
    .map(|part| part.to_string_lossy())
    .collect();
    directory.join(name.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plants what an agent that was killed leaves: its directory, with a lock that nobody holds.
    fn plant(path: &Path, boot: &str) -> File {
        std::fs::create_dir_all(path.join("0-0")).unwrap();
        let mut file = File::create(path.join(LOCK)).unwrap();
        file.write_all(boot.as_bytes()).unwrap();
        file
    }

    #[test]
    fn only_what_a_dead_agent_left_is_removed() {
        let name = format!("scratch-test-{}", std::process::id());
        let parent = std::env::temp_dir().join(name);
        let this = boot().unwrap_or_default();
        let make = |name: &str| {
            let path = parent.join(name);
            (plant(&path, &this), path).1
        };
        // A file without a holder is what a killed agent leaves, whoever has its process id now.
        let dead = [
            make(&format!("{PREFIX}{}-1f", std::process::id())),
            make("pentathlon-1-2-3-0"),
            make("pentathlon-1-2-competitor-0"),
        ];
        let unlocked = parent.join("pentathlon-1-2");
        std::fs::create_dir(&unlocked).unwrap();
        let others = [
            "pentathlon-results-1",
            "pentathlon-1-2-3",
            "pentathlon-1-2-a-b",
        ]
        .map(make);
        let living = Scratch::new(Some(&parent)).unwrap();
        if boot().is_some() {
            assert!(dead.iter().all(|dead| !dead.exists()));
        }
        for kept in others.iter().chain([&unlocked]) {
            assert!(kept.exists(), "{}", kept.display());
        }
        let second = Scratch::new(Some(&parent)).unwrap();
        assert!(living.path().exists() && second.path().exists());
        drop((living, second));
        let left = std::fs::read_dir(&parent).unwrap().count();
        assert_eq!(left, if boot().is_some() { 4 } else { 7 });
        std::fs::remove_dir_all(&parent).unwrap();
    }

    #[test]
    fn what_another_boot_left_is_removed_when_no_workload_can_last_so_long() {
        let name = format!("scratch-boot-{}", std::process::id());
        let parent = std::env::temp_dir().join(name);
        let (recent, old) = (parent.join("pentathlon-1-2"), parent.join("pentathlon-1-3"));
        plant(&recent, "another boot");
        let file = plant(&old, "another boot");
        let made = std::time::SystemTime::now() - OUTLIVED - Duration::from_secs(60);
        file.set_modified(made).unwrap();
        drop(file);
        drop(Scratch::new(Some(&parent)).unwrap());
        assert!(recent.exists() && !old.exists());
        std::fs::remove_dir_all(&parent).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_left_alone() {
        let name = format!("scratch-link-{}", std::process::id());
        let parent = std::env::temp_dir().join(name);
        let target = parent.join("target");
        std::fs::create_dir_all(&target).unwrap();
        plant(&target, &boot().unwrap_or_default());
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
