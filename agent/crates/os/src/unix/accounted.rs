//! A program that was started, its end, and what the kernel accounted to it: `waitid(2)`,
//! `wait4(2)`.

use super::rusage;
use crate::call::{check, check_uninterrupted};
pub use crate::ending::{Accounted, Ending};
use std::io;
use std::process::Child;

/// Waits until a child has ended; it stays to be collected, so its id is nobody else's yet.
#[inline]
pub fn await_end(child: &Child) -> io::Result<()> {
    // SAFETY: siginfo_t is plain data, for which all zeros is a value; the kernel fills it in.
    check_uninterrupted(|| unsafe {
        let mut reported: libc::siginfo_t = std::mem::zeroed();
        let how = libc::WEXITED | libc::WNOWAIT;
        libc::waitid(libc::P_PID, child.id() as libc::id_t, &mut reported, how) == 0
    })
}

/// Collects a child that has ended.
pub fn collect(child: Child) -> io::Result<(Ending, Accounted)> {
    let mut status = 0;
    // SAFETY: rusage is plain integers, for which all zeros is a value; both places are valid to
    // write to, and the child is ours and not yet collected.
    let raw = unsafe {
        let mut raw: libc::rusage = std::mem::zeroed();
        check(libc::wait4(child.id() as libc::pid_t, &mut status, 0, &mut raw) >= 0)?;
        raw
    };
    // Linux and the BSDs count KiB, macOS bytes (getrusage(2)).
    let unit = if cfg!(target_vendor = "apple") {
        1
    } else {
        1024
    };
    let peak = u64::try_from(raw.ru_maxrss).unwrap_or(0);
    let accounted = Accounted {
        usage: rusage::of(&raw),
        peak_memory_bytes: peak * unit,
    };
    Ok((Ending::of(status), accounted))
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
            check(libc::getrlimit(resource, &mut limit) >= 0)?;
            limit.rlim_cur = limit.rlim_cur.min(most);
            check(libc::setrlimit(resource, &limit) >= 0)?;
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
