//! A program that was started, its end, and what the kernel accounted to it: `waitid(2)`,
//! `wait4(2)`.

use super::rusage::{self, Usage};
use std::io;
use std::process::Child;

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Code(i32),
    Signal(i32),
}

/// What was accounted to a program and to the children that it has waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accounted {
    pub usage: Usage,
    /// Largest resident set of one of them, in bytes. A program begins as a copy of the one that
    /// starts it, so this is never less than what that one had.
    pub peak_memory_bytes: u64,
}

/// Waits until a child has ended; it stays to be collected, so its id is nobody else's yet.
#[inline]
pub fn await_end(child: &Child) -> io::Result<()> {
    loop {
        // SAFETY: siginfo_t is plain data, for which all zeros is a value; the kernel fills it in.
        let result = unsafe {
            let mut reported: libc::siginfo_t = std::mem::zeroed();
            let how = libc::WEXITED | libc::WNOWAIT;
            libc::waitid(libc::P_PID, child.id() as libc::id_t, &mut reported, how)
        };
        if result == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Collects a child that has ended.
pub fn collect(child: Child) -> io::Result<(Ending, Accounted)> {
    let mut status = 0;
    // SAFETY: rusage is plain integers, for which all zeros is a value; both places are valid to
    // write to, and the child is ours and not yet collected.
    let raw = unsafe {
        let mut raw: libc::rusage = std::mem::zeroed();
        if libc::wait4(child.id() as libc::pid_t, &mut status, 0, &mut raw) < 0 {
            return Err(io::Error::last_os_error());
        }
        raw
    };
    let ending = if libc::WIFEXITED(status) {
        Ending::Code(libc::WEXITSTATUS(status))
    } else {
        Ending::Signal(libc::WTERMSIG(status))
    };
    // Linux and the BSDs count KiB, macOS bytes (getrusage(2)).
    let unit = if cfg!(target_vendor = "apple") {
        1
    } else {
        1024
    };
    let peak = u64::try_from(raw.ru_maxrss).unwrap_or(0);
    Ok((
        ending,
        Accounted {
            usage: rusage::of(&raw),
            peak_memory_bytes: peak * unit,
        },
    ))
}

/// Ends a child, with its process group if it leads one. It must not have been collected.
pub fn kill(id: u32) {
    let id = id as libc::pid_t;
    // SAFETY: plain integers; the caller's own uncollected child, which leads the group.
    unsafe {
        libc::kill(-id, libc::SIGKILL);
        libc::kill(id, libc::SIGKILL);
    }
}

/// Limits the files that this process and those that it starts can write, in bytes, and the files
/// that the kernel writes of those that crash to none (`setrlimit(2)`). What is stricter already
/// stays.
pub fn limit_files(bytes: u64) -> io::Result<()> {
    for (resource, most) in [
        (libc::RLIMIT_FSIZE, bytes as libc::rlim_t),
        (libc::RLIMIT_CORE, 0),
    ] {
        // SAFETY: the structure is valid to read and to write.
        unsafe {
            let mut limit = std::mem::zeroed();
            if libc::getrlimit(resource, &mut limit) < 0 {
                return Err(io::Error::last_os_error());
            }
            limit.rlim_cur = limit.rlim_cur.min(most);
            if libc::setrlimit(resource, &limit) < 0 {
                return Err(io::Error::last_os_error());
            }
        }
    }
    Ok(())
}

/// The signal of a file that is larger than the limit.
pub const FILE_TOO_LARGE: i32 = libc::SIGXFSZ;

/// A signal's name, as far as programs usually end by it.
pub fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGHUP => "SIGHUP",
        libc::SIGILL => "SIGILL",
        libc::SIGINT => "SIGINT",
        libc::SIGKILL => "SIGKILL",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        _ => "signal(7)",
    }
}
