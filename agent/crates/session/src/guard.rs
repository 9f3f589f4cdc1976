//! The guard: runs another verb of this program with a private directory, and ends everything that
//! it started when the verb ends or when the guard's own input ends.
//!
//! Whoever starts the agent through something else (a container, another machine, a program of
//! theirs) can end only that something, and may die without ending anything. The end of the input
//! reaches the guard in each of these cases.

use super::home::{Home, Refused};
use super::supervisor::{own_program, spawn_in_group};
use pentathlon_harness::{Emitter, Scratch};
use pentathlon_os::descendants;
use pentathlon_os::parent;
use pentathlon_os::process::{self, Group};
use pentathlon_protocol::Event;
use serde::Deserialize;
use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// What a guard is to do.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Orders {
    /// The directory in which the private directory is made; None: that of the session, if there is
    /// one, else the temporary directory.
    pub below: Option<PathBuf>,
    /// The input begins with files: a list on one line, then their bytes.
    pub files: bool,
    /// This program's own file goes too; a system that removes no running program keeps it.
    pub placed: bool,
    /// The session's own directory, in which this program was placed (`home.rs`); it goes too.
    pub home: Option<PathBuf>,
    /// The machine that the session was started from, a blank, and who it is for people.
    pub owner: Option<String>,
    /// The verb that is run.
    pub verb: String,
}

/// Longest list of files, in bytes.
const LONGEST_LIST: u64 = 64 << 20;

/// The exit status where a session of another machine is there.
const BUSY: u8 = 7;

/// Where the files lie in the private directory, and the private directory in that of the session.
const FILES: &str = "files";

/// One file of the list.
#[derive(Debug, Deserialize)]
struct Sent {
    path: String,
    bytes: u64,
    executable: bool,
}

/// Serves until the verb or the input ends; the exit status, that of the verb where it ended itself.
pub fn guard(orders: &Orders) -> u8 {
    match try_guard(orders) {
        Ok(status) => status,
        Err(error) => {
            writeln!(io::stderr(), "pentathlon-agent guard: {error}").ok();
            1
        }
    }
}

fn try_guard(orders: &Orders) -> io::Result<u8> {
    // The input says when the end has come; a signal would leave what the verb has started.
    parent::outlive_signals();
    descendants::adopt();
    let program = own_program()?;
    let placed = Placed(orders.placed.then(|| program.clone()));
    // Dropped last: what was changed is put back when nothing is measured any more.
    let home = match &orders.home {
        Some(path) => match Home::enter(path, orders.owner.as_deref()) {
            Ok(home) => Some(home),
            Err(Refused::Taken(who)) => {
                say(&format!("taken by {who}"))?;
                return Ok(BUSY);
            }
            Err(Refused::Failed(error)) => {
                let place = path.display();
                let words = format!("{place} cannot be locked: {error}");
                return Err(io::Error::new(error.kind(), words));
            }
        },
        None => None,
    };
    let scratch = match (&orders.below, &orders.home) {
        // A short path: sockets have room for few bytes.
        (None, Some(home)) => Scratch::at(home.join(FILES)),
        (below, _) => Scratch::new(below.as_deref()),
    };
    let scratch = scratch.map_err(|error| {
        let place = orders.below.as_ref().or(orders.home.as_ref());
        let place = place.cloned().unwrap_or_else(std::env::temp_dir);
        let place = place.display();
        io::Error::new(
            error.kind(),
            format!("no directory can be made in {place}: {error}"),
        )
    })?;
    only_mine(scratch.path())?;
    if let Some(home) = &home {
        home.note_scratch(scratch.path())?;
    }
    say(&format!("ready in {}", scratch.path().display()))?;
    let mut input = io::stdin().lock();
    if orders.files {
        let place = scratch.path().join(FILES);
        receive(&mut input, &place)?;
        say(&format!("files in {}", place.display()))?;
    }
    // What is locked belongs to this thread, and the input is read by another one.
    let rest = input.fill_buf().map(<[u8]>::to_vec)?;
    input.consume(rest.len());
    drop(input);
    if rest.is_empty() {
        return Ok(0);
    }

    let mut command = starting(home.as_ref(), &program)?;
    command.arg(&orders.verb).stdin(Stdio::piped());
    for variable in ["TMPDIR", "TMP", "TEMP"] {
        command.env(variable, scratch.path());
    }
    let (mut child, group) = spawn_in_group(command)?;
    let group = Arc::new(Mutex::new(Some(group)));
    let closed = feed(&mut child, rest, Arc::clone(&group));
    process::wait_for_end(&mut child)?;
    // From here on the id of the group may become another's.
    let held = group.lock().expect("no thread panics").take();
    let status = child.wait()?;
    descendants::end(&[]);
    // Where it is a job, what is left in it ends here; a process group has nothing to drop.
    #[allow(clippy::drop_non_drop)]
    drop(held);
    drop(scratch);
    drop(placed);
    drop(home);
    Ok(exit_status(status, closed.load(Ordering::Acquire)))
}

/// The command of this program, marked as the session's, behind that of the machine's where it has one.
fn starting(home: Option<&Home>, program: &Path) -> io::Result<Command> {
    let Some(home) = home else {
        return Ok(Command::new(program));
    };
    let before = home.before()?;
    let mut command = match before.split_first() {
        Some((first, more)) => {
            let mut command = Command::new(first);
            command.args(more).arg(program);
            command
        }
        None => Command::new(program),
    };
    let (name, value) = home.mark();
    command.env(name, value);
    Ok(command)
}

/// Passes the input on; at its end everything that was started is ended. Whether it has ended.
fn feed(child: &mut Child, first: Vec<u8>, group: Arc<Mutex<Option<Group>>>) -> Arc<AtomicBool> {
    let mut output = child.stdin.take().expect("stdin is piped");
    let closed = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&closed);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        // A verb that reads no more is waited for elsewhere.
        let mut open = output.write_all(&first).is_ok();
        let mut buffer = [0; 65536];
        loop {
            match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => open = open && output.write_all(&buffer[..count]).is_ok(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        ended.store(true, Ordering::Release);
        if let Some(group) = &*group.lock().expect("no thread panics") {
            group.kill();
        }
    });
    closed
}

/// The guard's exit status: an end by the input is as it should be.
fn exit_status(status: ExitStatus, closed: bool) -> u8 {
    if closed {
        return 0;
    }
    status.code().map_or_else(
        || {
            writeln!(
                io::stderr(),
                "pentathlon-agent guard: the agent was ended: {status}"
            )
            .ok();
            1
        },
        |code| u8::try_from(code).unwrap_or(1),
    )
}

fn say(message: &str) -> io::Result<()> {
    let event = Event::Log {
        level: "info",
        message: message.into(),
    };
    Emitter::new(io::stdout(), pentathlon_harness::clock::monotonic_ns()).send(&event)
}

/// Takes the files that the input begins with: a JSON list on one line, then all bytes in its order.
fn receive(input: &mut impl BufRead, place: &Path) -> io::Result<()> {
    let damaged = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let mut line = Vec::new();
    input
        .by_ref()
        .take(LONGEST_LIST)
        .read_until(b'\n', &mut line)?;
    let list: Vec<Sent> = serde_json::from_slice(&line)
        .map_err(|error| damaged(format!("the list of files is damaged: {error}")))?;
    std::fs::create_dir(place)?;
    for one in list {
        let path = inside(place, &one.path)
            .ok_or_else(|| damaged(format!("\"{}\" leads out of the directory", one.path)))?;
        if let Some(above) = path.parent() {
            std::fs::create_dir_all(above)?;
        }
        let mut file = File::options().write(true).create_new(true).open(&path)?;
        let copied = io::copy(&mut input.by_ref().take(one.bytes), &mut file)?;
        if copied != one.bytes {
            return Err(damaged(format!("\"{}\" did not arrive whole", one.path)));
        }
        set_mode(&file, one.executable)?;
    }
    Ok(())
}

/// The path of a file, if it lies within the directory.
fn inside(place: &Path, path: &str) -> Option<PathBuf> {
    let parts = Path::new(path).components();
    let mut plain = parts.map(|part| matches!(part, Component::Normal(_)));
    (!path.is_empty() && plain.all(|one| one)).then(|| place.join(path))
}

#[cfg(unix)]
fn set_mode(file: &File, executable: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = if executable { 0o555 } else { 0o444 };
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_file: &File, _executable: bool) -> io::Result<()> {
    Ok(())
}

/// Lets nobody else look into a directory; where the system has other rights, the temporary
/// directory is the user's own.
#[cfg(unix)]
fn only_mine(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn only_mine(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Removes the program's own file when dropped.
struct Placed(Option<PathBuf>);

impl Drop for Placed {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            std::fs::remove_file(path).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("guard-{name}-{}", std::process::id()));
        std::fs::remove_dir_all(&path).ok();
        path
    }

    #[test]
    fn files_arrive_as_they_were_sent() {
        let place = fresh("files");
        let list = r#"[{"path":"a/b","bytes":3,"executable":true},{"path":"c","bytes":0,"executable":false}]"#;
        let mut input = format!("{list}\nxyz{{\"next\"").into_bytes();
        input.push(b'\n');
        let mut input = input.as_slice();
        receive(&mut input, &place).unwrap();
        assert_eq!(std::fs::read(place.join("a/b")).unwrap(), b"xyz");
        assert_eq!(std::fs::read(place.join("c")).unwrap(), b"");
        assert_eq!(input, b"{\"next\"\n");
        std::fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn no_file_leads_out_of_the_directory() {
        for path in ["../x", "/x", "a/../../x", "", "./x"] {
            let place = fresh("out");
            let list = format!("[{{\"path\":\"{path}\",\"bytes\":1,\"executable\":false}}]\nx");
            let error = receive(&mut list.as_bytes(), &place).unwrap_err();
            assert!(error.to_string().contains("leads out"), "{path}: {error}");
            assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
            std::fs::remove_dir_all(place).unwrap();
        }
    }

    #[test]
    fn a_file_that_is_cut_and_a_list_that_is_none_are_errors() {
        let place = fresh("cut");
        let list = "[{\"path\":\"x\",\"bytes\":4,\"executable\":false}]\nabc";
        let error = receive(&mut list.as_bytes(), &place).unwrap_err();
        assert!(error.to_string().contains("whole"), "{error}");
        std::fs::remove_dir_all(&place).unwrap();
        let error = receive(&mut "[{}]\n".as_bytes(), &place).unwrap_err();
        assert!(error.to_string().contains("damaged"), "{error}");
    }
}
