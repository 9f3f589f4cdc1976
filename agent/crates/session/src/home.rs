//! The directory of a guarded session on a machine that others reach over a connection: locked for as
//! long as the guard lives, with the commands that put back what the session changes on the machine.
//!
//! Whoever changes a setting first appends to the file `undo` a line with a JSON list: the words of
//! the command that puts it back. The guard runs them at its end, the last change first. What a guard
//! that was killed has left (a power cut, a restart) is put back and removed by the next one: the lock
//! says that nobody holds it any more. On a system like Unix what is changed is in the kernel's memory,
//! so after a restart nothing has to be put back.
//!
//! The file `owner` names the machine that the session was started from, and `guard` this process and
//! the boot: a session of another machine is not joined.

use pentathlon_os::descendants;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How the directories of sessions are called; the token of the session follows.
const PREFIX: &str = "pentathlon-there-";
const LOCK: &str = "lock";
const NEW_LOCK: &str = "lock.new";
const UNDO: &str = "undo";
const GUARD: &str = "guard";
const OWNER: &str = "owner";
const BEFORE: &str = "before";
const SCRATCH: &str = "scratch";
/// How directories of sessions begin, of whatever kind.
const OURS: &str = "pentathlon-";

/// The variable with the token in the environment of all that a session starts.
const MARK: &str = "PENTATHLON_THERE";

/// Longest time of one command that puts something back.
const COMMAND: Duration = Duration::from_secs(30);

/// Why a directory was not entered.
pub enum Refused {
    /// A session of another machine is there: who it is, for people.
    Taken(String),
    Failed(io::Error),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// The directory, until it is dropped.
pub struct Home {
    path: PathBuf,
    lock: Option<File>,
}

impl Home {
    /// Locks a directory, and puts back and removes what sessions without a guard left beside it.
    ///
    /// `owner` is the machine that the session was started from, a blank, and words for people.
    pub fn enter(path: &Path, owner: Option<&str>) -> Result<Self, Refused> {
        let lock = locked(path)?;
        let home = Self {
            path: path.to_path_buf(),
            lock: Some(lock),
        };
        let process = std::process::id();
        std::fs::write(path.join(GUARD), format!("{process} {}\n", boot()))?;
        if let Some(owner) = owner {
            std::fs::write(path.join(OWNER), format!("{owner}\n"))?;
        }
        if let Some(parent) = path.parent() {
            if let Some(other) = owner.and_then(|owner| taken(parent, path, owner)) {
                return Err(Refused::Taken(other));
            }
            sweep(parent, path);
        }
        Ok(home)
    }

    /// Notes a directory elsewhere that goes with this one.
    pub fn note_scratch(&self, scratch: &Path) -> io::Result<()> {
        std::fs::write(
            self.path.join(SCRATCH),
            scratch.as_os_str().as_encoded_bytes(),
        )
    }

    /// The variable that marks what the session starts.
    pub fn mark(&self) -> (&'static str, String) {
        (MARK, token(&self.path))
    }

    /// The words of a command that starts the verb, where the machine needs one (`before`).
    pub fn before(&self) -> io::Result<Vec<String>> {
        match std::fs::read_to_string(self.path.join(BEFORE)) {
            Ok(text) => serde_json::from_str(&text).map_err(io::Error::from),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        put_back(&self.path);
        // Windows removes no file that is open, and no program that runs: the rest goes with the shell
        // that started it.
        drop(self.lock.take());
        std::fs::remove_file(self.path.join(LOCK)).ok();
        if cfg!(unix) && !self.path.join(UNDO).exists() {
            std::fs::remove_dir_all(&self.path).ok();
        }
    }
}

/// The file that is locked for as long as the guard lives. Where an open file can be renamed, it gets
/// its name once it is locked, so that no other guard finds it without a holder.
fn locked(directory: &Path) -> io::Result<File> {
    let name = directory.join(LOCK);
    let made = if cfg!(unix) {
        directory.join(NEW_LOCK)
    } else {
        name.clone()
    };
    let lock = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&made)?;
    lock.try_lock().map_err(io::Error::from)?;
    if made != name {
        std::fs::rename(made, name)?;
    }
    Ok(lock)
}

/// Which boot of this system this is (random(4)); empty where that decides nothing: what is changed on
/// Windows outlives a restart.
fn boot() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

fn token(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix(PREFIX).unwrap_or(&name).to_owned()
}

/// The directories of sessions in `parent` but `own`.
fn beside(parent: &Path, own: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    entries
        .filter(|entry| {
            let named = entry.file_name().to_string_lossy().starts_with(PREFIX);
            named && entry.file_type().is_ok_and(|kind| kind.is_dir())
        })
        .map(|entry| entry.path())
        .filter(|path| path != own)
        .collect()
}

/// Who has a session in `parent` that was started from another machine than `owner`'s.
fn taken(parent: &Path, own: &Path, owner: &str) -> Option<String> {
    let machine = |words: &str| words.split_whitespace().next().map(str::to_owned);
    beside(parent, own).into_iter().find_map(|path| {
        let other = std::fs::read_to_string(path.join(OWNER)).ok()?;
        let file = File::options().write(true).open(path.join(LOCK)).ok()?;
        let alive = file.try_lock().is_err() && reported_boot(&path).is_none_or(|id| id == boot());
        (alive && machine(&other) != machine(owner)).then(|| {
            let words = other.trim().split_once(' ').map(|(_, words)| words);
            words.unwrap_or("another machine").to_owned()
        })
    })
}

/// The boot that a guard has written down.
fn reported_boot(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path.join(GUARD)).ok()?;
    let boot = text.trim().split_once(' ')?.1.to_owned();
    (!boot.is_empty()).then_some(boot)
}

/// Ends, puts back and removes what lies in `parent` without a guard.
fn sweep(parent: &Path, own: &Path) {
    for path in beside(parent, own) {
        // The commands in it are run with the rights of this user, so it has to be this user's.
        if !same_owner(&path, own) {
            continue;
        }
        // Without the file it is about to be made, or somebody else's.
        let Ok(file) = File::options().write(true).open(path.join(LOCK)) else {
            continue;
        };
        if file.try_lock().is_err() {
            continue;
        }
        if reported_boot(&path).is_none_or(|id| id == boot()) {
            descendants::end_marked(MARK, &token(&path));
            put_back(&path);
        } else {
            std::fs::remove_file(path.join(UNDO)).ok();
        }
        if let Ok(scratch) = std::fs::read_to_string(path.join(SCRATCH)) {
            remove_scratch(Path::new(&scratch), own);
        }
        drop(file);
        if !path.join(UNDO).exists() {
            std::fs::remove_dir_all(path).ok();
        }
    }
}

/// Removes a noted directory, if it is one of those that guards make.
fn remove_scratch(path: &Path, own: &Path) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_directory = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    if name.starts_with(OURS) && is_directory && same_owner(path, own) {
        std::fs::remove_dir_all(path).ok();
    }
}

#[cfg(unix)]
fn same_owner(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = |path| std::fs::symlink_metadata(path).map(|found| found.uid());
    matches!((owner(one), owner(other)), (Ok(one), Ok(other)) if one == other)
}

/// The temporary directory is the user's own there.
#[cfg(not(unix))]
fn same_owner(_one: &Path, _other: &Path) -> bool {
    true
}

/// Runs the commands of the file `undo`, the last one first. Those that fail stay in it for the next
/// guard; without any the file is removed.
fn put_back(directory: &Path) {
    let file = directory.join(UNDO);
    let Ok(text) = std::fs::read_to_string(&file) else {
        return;
    };
    let mut failed = Vec::new();
    for line in text.lines().rev() {
        // A line that was cut off belongs to a change that was not made: it is written before.
        let Ok(words) = serde_json::from_str::<Vec<String>>(line) else {
            continue;
        };
        if let Err(reason) = run(&words) {
            // The connection may be gone, and with it who reads this.
            let words = words.join(" ");
            writeln!(
                io::stderr(),
                "pentathlon-agent guard: `{words}` puts nothing back: {reason}"
            )
            .ok();
            failed.push(line);
        }
    }
    if failed.is_empty() {
        std::fs::remove_file(&file).ok();
        return;
    }
    failed.reverse();
    let kept = failed.join("\n") + "\n";
    File::create(&file)
        .and_then(|mut file| file.write_all(kept.as_bytes()))
        .ok();
}

fn run(words: &[String]) -> Result<(), String> {
    let (program, arguments) = words.split_first().ok_or("there is no program")?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let deadline = Instant::now() + COMMAND;
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(status.to_string()),
            None if Instant::now() >= deadline => {
                child.kill().ok();
                child.wait().ok();
                return Err(format!("it did not end within {} s", COMMAND.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("home-{name}-{}", std::process::id()));
        std::fs::remove_dir_all(&path).ok();
        std::fs::create_dir(&path).unwrap();
        path
    }

    fn make(parent: &Path, token: &str, undo: &str) -> PathBuf {
        let path = parent.join(format!("{PREFIX}{token}"));
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join(UNDO), undo).unwrap();
        path
    }

    fn entered(path: &Path) -> Home {
        Home::enter(path, None).ok().expect("nobody else is there")
    }

    #[cfg(unix)]
    fn append(file: &Path, word: &str) -> String {
        let script = format!("echo {word} >>'{}'", file.display());
        serde_json::to_string(&["sh", "-c", &script]).unwrap() + "\n"
    }

    #[cfg(unix)]
    #[test]
    fn the_last_change_is_put_back_first() {
        let parent = fresh("order");
        let log = parent.join("log");
        let undo = append(&log, "first") + &append(&log, "second") + "[\"cut";
        let path = make(&parent, "1", &undo);
        let home = entered(&path);
        assert!(!log.exists());
        drop(home);
        assert_eq!(std::fs::read_to_string(log).unwrap(), "second\nfirst\n");
        assert!(!path.exists());
        std::fs::remove_dir_all(parent).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn what_a_dead_guard_left_is_put_back_and_what_lives_is_left_alone() {
        let parent = fresh("sweep");
        let log = parent.join("log");
        let dead = make(&parent, "dead", &append(&log, "dead"));
        std::fs::write(dead.join(LOCK), "").unwrap();
        let alive = make(&parent, "alive", &append(&log, "alive"));
        let holder = entered(&alive);
        assert!(!dead.exists(), "the second session removes it");
        let unlocked = make(&parent, "new", &append(&log, "new"));
        let third = entered(&make(&parent, "third", ""));
        assert!(alive.exists() && unlocked.exists());
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "dead\n");
        drop((third, holder));
        assert_eq!(std::fs::read_to_string(log).unwrap(), "dead\nalive\n");
        std::fs::remove_dir_all(parent).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_session_that_begins_is_not_taken_for_one_that_was_left() {
        let parent = fresh("begins");
        let begins = make(&parent, "begins", "");
        std::fs::write(begins.join(NEW_LOCK), "").unwrap();
        let other = entered(&make(&parent, "other", ""));
        assert!(begins.exists(), "it is about to be locked");
        let home = entered(&begins);
        let again = File::open(begins.join(LOCK)).unwrap();
        assert!(again.try_lock().is_err() && !begins.join(NEW_LOCK).exists());
        drop((home, other));
        std::fs::remove_dir_all(parent).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn another_boot_is_only_removed_and_a_noted_directory_goes_too() {
        let parent = fresh("boot");
        let log = parent.join("log");
        let (files, precious) = (parent.join("pentathlon-1-2"), parent.join("precious"));
        for (name, noted) in [("a", &files), ("b", &precious)] {
            std::fs::create_dir(noted).unwrap();
            let old = make(&parent, name, &append(&log, name));
            std::fs::write(old.join(LOCK), "").unwrap();
            std::fs::write(old.join(GUARD), "1 another-boot\n").unwrap();
            std::fs::write(old.join(SCRATCH), noted.to_str().unwrap()).unwrap();
        }
        drop(entered(&make(&parent, "new", "")));
        assert!(!log.exists() && !files.exists() && precious.exists());
        assert_eq!(beside(&parent, &parent).len(), 0);
        std::fs::remove_dir_all(parent).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_dead_guard_left_running_is_ended() {
        let parent = fresh("running");
        let old = make(&parent, &format!("left-{}", std::process::id()), "");
        std::fs::write(old.join(LOCK), "").unwrap();
        let mut left = Command::new("sleep")
            .arg("600")
            .env(MARK, token(&old))
            .spawn()
            .unwrap();
        drop(entered(&make(&parent, "new", "")));
        assert!(!left.wait().unwrap().success());
        std::fs::remove_dir_all(parent).unwrap();
    }

    #[test]
    fn a_session_of_another_machine_is_not_joined() {
        let parent = fresh("taken");
        let enter = |name: &str, owner| Home::enter(&make(&parent, name, ""), Some(owner));
        let first = enter("1", "here alice on office").ok();
        assert!(first.is_some());
        assert!(enter("2", "here bob on office").is_ok());
        let other = make(&parent, "3", "");
        match Home::enter(&other, Some("there carol on lab")) {
            Err(Refused::Taken(who)) => assert_eq!(who, "alice on office"),
            _ => panic!("it was joined"),
        }
        drop(first);
        assert!(Home::enter(&make(&parent, "4", ""), Some("there carol on lab")).is_ok());
        std::fs::remove_dir_all(parent).unwrap();
    }

    #[test]
    fn what_cannot_be_put_back_stays_for_the_next_guard() {
        let parent = fresh("kept");
        let wrong = "[\"no-such-program-here\"]\n";
        let path = make(&parent, "1", wrong);
        drop(entered(&path));
        assert_eq!(std::fs::read_to_string(path.join(UNDO)).unwrap(), wrong);
        std::fs::remove_dir_all(parent).unwrap();
    }
}
