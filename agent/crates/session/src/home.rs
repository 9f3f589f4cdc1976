//! The directory of a guarded session on a machine that others reach over a connection: locked for as
//! long as the guard lives, with the commands that put back what the session changes on the machine.
//!
//! Whoever changes a setting first appends to the file `undo` a line with a JSON list: the words of
//! the command that puts it back. The guard runs them at its end, the last change first. What a guard
//! that was killed has left (a power cut, a restart) is put back and removed by the next one: the lock
//! says that nobody holds it any more.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How the directories of sessions are called; the token of the session follows.
const PREFIX: &str = "pentathlon-there-";
const LOCK: &str = "lock";
const UNDO: &str = "undo";

/// Longest time of one command that puts something back.
const COMMAND: Duration = Duration::from_secs(30);

/// The directory, until it is dropped.
pub struct Home {
    path: PathBuf,
    lock: Option<File>,
}

impl Home {
    /// Locks a directory, and puts back and removes what sessions without a guard left beside it.
    pub fn enter(path: &Path) -> io::Result<Self> {
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join(LOCK))?;
        lock.try_lock().map_err(io::Error::from)?;
        if let Some(parent) = path.parent() {
            sweep(parent, path);
        }
        Ok(Self {
            path: path.to_path_buf(),
            lock: Some(lock),
        })
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

/// Puts back and removes what lies in `parent` without a guard.
fn sweep(parent: &Path, own: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let path = entry.path();
        let named = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !named || !is_directory || path == own {
            continue;
        }
        // Without the file it is about to be made, or somebody else's.
        let Ok(file) = File::options().write(true).open(path.join(LOCK)) else {
            continue;
        };
        if file.try_lock().is_err() {
            continue;
        }
        put_back(&path);
        drop(file);
        if !path.join(UNDO).exists() {
            std::fs::remove_dir_all(path).ok();
        }
    }
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
            eprintln!(
                "pentathlon-agent guard: `{}` puts nothing back: {reason}",
                words.join(" ")
            );
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
        let home = Home::enter(&path).unwrap();
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
        let holder = Home::enter(&alive).unwrap();
        assert!(!dead.exists(), "the second session removes it");
        let unlocked = make(&parent, "new", &append(&log, "new"));
        let third = Home::enter(&make(&parent, "third", "")).unwrap();
        assert!(alive.exists() && unlocked.exists());
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "dead\n");
        drop((third, holder));
        assert_eq!(std::fs::read_to_string(log).unwrap(), "dead\nalive\n");
        std::fs::remove_dir_all(parent).unwrap();
    }

    #[test]
    fn what_cannot_be_put_back_stays_for_the_next_guard() {
        let parent = fresh("kept");
        let wrong = "[\"no-such-program-here\"]\n";
        let path = make(&parent, "1", wrong);
        drop(Home::enter(&path).unwrap());
        assert_eq!(std::fs::read_to_string(path.join(UNDO)).unwrap(), wrong);
        std::fs::remove_dir_all(parent).unwrap();
    }
}
