//! The processes that this one has started, with those that they started and left: `prctl(2)`,
//! `proc_pid_stat(5)`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

static ADOPTS: AtomicBool = AtomicBool::new(false);

/// From now on whoever is left behind below this process becomes its child, also one that leads a
/// session of its own.
pub fn adopt() {
    // SAFETY: plain integers.
    let result = unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1 as libc::c_ulong) };
    ADOPTS.store(result == 0, Ordering::Relaxed);
}

/// Whether this process finds every descendant, also those whose parents have ended and were collected.
pub fn are_found() -> bool {
    ADOPTS.load(Ordering::Relaxed)
}

/// Whether this process has no descendant at all, ended or not. One call to the system, where
/// [`living`] reads a file of every process of the machine.
pub fn none() -> bool {
    // SAFETY: siginfo_t is plain data, for which all zeros is a value; the kernel fills it in.
    let result = unsafe {
        let mut reported: libc::siginfo_t = std::mem::zeroed();
        let how = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        libc::waitid(libc::P_ALL, 0, &mut reported, how)
    };
    let childless =
        result != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ECHILD);
    childless && are_found()
}

/// Living descendants of this process but those of `kept`, with the names of their programs.
pub fn living(kept: &[u32]) -> Vec<(u32, String)> {
    let mut everyone = HashMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let stat = std::fs::read(entry.path().join("stat")).unwrap_or_default();
        if let Some((parent, state, name)) = parse(&String::from_utf8_lossy(&stat)) {
            everyone.insert(id, (parent, state, name));
        }
    }
    let own = std::process::id();
    let below = |mut id: u32| {
        for _ in 0..everyone.len() {
            if kept.contains(&id) {
                return false;
            }
            match everyone.get(&id) {
                Some((parent, ..)) if *parent == own => return true,
                Some((parent, ..)) => id = *parent,
                None => return false,
            }
        }
        false
    };
    let mut found: Vec<_> = everyone
        .iter()
        .filter(|(id, (_, state, _))| !matches!(state, 'Z' | 'X') && below(**id))
        .map(|(id, (_, _, name))| (*id, name.clone()))
        .collect();
    found.sort();
    found
}

/// Parent, state and name.
fn parse(stat: &str) -> Option<(u32, char, String)> {
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(") ")?;
    let mut words = rest.split(' ');
    let state = words.next()?.chars().next()?;
    Some((words.next()?.parse().ok()?, state, name.into()))
}

/// Whether a process whose memory this one may look into is amid `execve(2)`, or amid its end: it has
/// no address for the end of its environment, which is not 0 where that is empty. Of a kernel thread
/// it is always 0.
fn changes_its_program(stat: &str) -> bool {
    const KERNEL_THREAD: u32 = 0x0020_0000;
    let Some((_, rest)) = stat.rsplit_once(") ") else {
        return false;
    };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let flags = words.get(6).and_then(|word| word.parse::<u32>().ok());
    !matches!(words.first(), Some(&("Z" | "X")))
        && flags.is_some_and(|flags| flags & KERNEL_THREAD == 0)
        && words.get(48) == Some(&"0")
}

/// Ends the living descendants but those of `kept` until there are none, and collects those that
/// were left to this process. Whoever started a child by itself has collected it before.
pub fn end(kept: &[u32]) {
    // Each turn also meets what was started while the one before went on.
    for _ in 0..1000 {
        let found = living(kept);
        for (id, _) in &found {
            // SAFETY: plain integers; a descendant of this process.
            unsafe { libc::kill(*id as libc::pid_t, libc::SIGKILL) };
        }
        collect();
        if found.is_empty() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// Ends every process, but this one, that has `name=value` in its environment and that this user may
/// look into, until there is none.
pub fn end_marked(name: &str, value: &str) {
    let mark = format!("{name}={value}").into_bytes();
    for _ in 0..1000 {
        let mut found = false;
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let id = entry.file_name().to_str().and_then(|id| id.parse().ok());
            let Some(id) = id.filter(|id: &u32| *id != std::process::id()) else {
                continue;
            };
            let Ok(environment) = std::fs::read(entry.path().join("environ")) else {
                continue;
            };
            // Its environment is yet to come, so it is looked at again.
            found |= environment.is_empty()
                && std::fs::read(entry.path().join("stat"))
                    .is_ok_and(|stat| changes_its_program(&String::from_utf8_lossy(&stat)));
            if environment.split(|byte| *byte == 0).any(|one| one == mark) {
                found = true;
                // SAFETY: plain integers.
                unsafe { libc::kill(id as libc::pid_t, libc::SIGKILL) };
            }
        }
        if !found {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// Collects the children that have ended.
fn collect() {
    loop {
        // SAFETY: siginfo_t is plain data, for which all zeros is a value; the kernel fills it in.
        let id = unsafe {
            let mut reported: libc::siginfo_t = std::mem::zeroed();
            let how = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            if libc::waitid(libc::P_ALL, 0, &mut reported, how) != 0 {
                return;
            }
            reported.si_pid()
        };
        if id == 0 {
            return;
        }
        // SAFETY: an ended child of this process, and no place to write to.
        unsafe { libc::waitpid(id, std::ptr::null_mut(), libc::WNOHANG) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks_is_read() {
        let line = "77 (a ) (b) S 42 77 77 0 -1 4194304";
        assert_eq!(parse(line), Some((42, 'S', "a ) (b".into())));
        assert_eq!(parse("77 (cut"), None);
    }

    /// Fields as in proc_pid_stat(5), numbered from 1.
    fn stat(state: &str, flags: u32, env_end: u64) -> String {
        let mut fields = vec!["0".to_owned(); 52];
        (fields[1], fields[2]) = ("(a ) b)".into(), state.into());
        (fields[8], fields[50]) = (flags.to_string(), env_end.to_string());
        fields.join(" ")
    }

    #[test]
    fn a_process_without_an_environment_yet_is_known_by_its_memory() {
        assert!(changes_its_program(&stat("R", 0x0040_0000, 0)));
        assert!(!changes_its_program(&stat("S", 0x0040_0000, 0x7ffd_0000)));
        assert!(!changes_its_program(&stat("Z", 0x0040_0000, 0)));
        assert!(!changes_its_program(&stat("I", 0x0020_8040, 0)));
        assert!(!changes_its_program("77 (cut"));
    }

    #[test]
    fn a_running_program_with_an_empty_environment_has_its_own() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .env_clear()
            .spawn()
            .unwrap();
        let of = |name: &str| std::fs::read(format!("/proc/{}/{name}", child.id())).unwrap();
        // Until it runs its own program, it has the environment of this one or none yet.
        let settled = (0..10_000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            of("comm") == b"sleep\n" && !changes_its_program(&String::from_utf8_lossy(&of("stat")))
        });
        assert!(settled && of("environ").is_empty());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
