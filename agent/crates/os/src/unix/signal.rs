//! Signals: `sigaction(2)`, `kill(2)`, `sigprocmask(2)`, `sigwait(3)`.

use crate::call::{check, numbered};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// The signal that the workloads use; nothing else of the agent does.
pub const SIGNAL: i32 = libc::SIGUSR1;

/// Each handler has a count of its own, so that no linker takes the two for one.
static HANDLED: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

extern "C" fn count(_signal: i32) {
    HANDLED[0].fetch_add(1, Ordering::Relaxed);
}

extern "C" fn count_too(_signal: i32) {
    HANDLED[1].fetch_add(1, Ordering::Relaxed);
}

/// One of two handlers. Both count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handler {
    First,
    Second,
}

/// How many signals the handlers of this process have counted.
#[inline(always)]
pub fn handled() -> u64 {
    HANDLED[0].load(Ordering::Relaxed) + HANDLED[1].load(Ordering::Relaxed)
}

/// Installs a handler for [`SIGNAL`]; returns which one it replaced, if it was one of the two.
#[inline(always)]
pub fn install(handler: Handler) -> io::Result<Option<Handler>> {
    let function: extern "C" fn(i32) = match handler {
        Handler::First => count,
        Handler::Second => count_too,
    };
    // SAFETY: sigaction is plain data, for which all zeros is a value; the handlers do nothing but
    // add to an atomic, which a signal handler may.
    let old = unsafe {
        let mut new: libc::sigaction = std::mem::zeroed();
        let mut old: libc::sigaction = std::mem::zeroed();
        new.sa_sigaction = function as libc::sighandler_t;
        libc::sigemptyset(&mut new.sa_mask);
        check(libc::sigaction(SIGNAL, &new, &mut old) == 0)?;
        old.sa_sigaction
    };
    let first: extern "C" fn(i32) = count;
    let second: extern "C" fn(i32) = count_too;
    Ok(if old == first as libc::sighandler_t {
        Some(Handler::First)
    } else {
        (old == second as libc::sighandler_t).then_some(Handler::Second)
    })
}

/// Lets [`SIGNAL`] do again what it does without a handler.
#[inline]
pub fn reset() {
    // SAFETY: plain integers.
    unsafe { libc::signal(SIGNAL, libc::SIG_DFL) };
}

/// Sends [`SIGNAL`] to a process.
#[inline(always)]
pub fn send(process: u32) -> io::Result<()> {
    let process = libc::pid_t::try_from(process).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: plain integers.
    check(unsafe { libc::kill(process, SIGNAL) } == 0)
}

/// The calling thread's number.
#[cfg(target_os = "linux")]
#[inline]
pub fn this_thread() -> i32 {
    // SAFETY: gettid has no arguments and cannot fail.
    unsafe { libc::gettid() }
}

/// Sends [`SIGNAL`] to a thread of this process; an error if it has ended.
#[cfg(target_os = "linux")]
#[inline]
pub fn send_to_thread(number: i32) -> io::Result<()> {
    // SAFETY: plain integers; the process is our own.
    check(unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), number, SIGNAL) } == 0)
}

/// Keeps [`SIGNAL`] back until it is waited for; dropped, a signal that is still kept back is taken
/// and the mask is as it was.
pub struct Blocked {
    before: libc::sigset_t,
    set: libc::sigset_t,
}

impl Blocked {
    /// For the calling thread and the processes that it forks from now on.
    #[inline]
    pub fn new() -> io::Result<Self> {
        // SAFETY: signal sets are plain data, for which all zeros is a value; the calls fill them.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, SIGNAL);
            numbered(libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut before))?;
            Ok(Self { before, set })
        }
    }

    /// Sleeps until the signal comes; takes it.
    #[inline(always)]
    pub fn wait(&self) -> io::Result<()> {
        let mut signal = 0;
        // SAFETY: a set that was filled, and an integer that is valid to write to.
        numbered(unsafe { libc::sigwait(&self.set, &mut signal) })
    }

    fn is_pending() -> bool {
        // SAFETY: as in `new`.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigpending(&mut set) == 0 && libc::sigismember(&set, SIGNAL) == 1
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        if Self::is_pending() {
            self.wait().ok();
        }
        // SAFETY: the mask that was in force before.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test, because a process has one handler for a signal.
    #[test]
    fn a_signal_is_handled_or_waited_for() {
        assert_eq!(install(Handler::First).unwrap(), None);
        assert_eq!(install(Handler::Second).unwrap(), Some(Handler::First));
        assert_eq!(install(Handler::Second).unwrap(), Some(Handler::Second));
        let before = handled();
        // SAFETY: plain integers; to this thread, because the test runner has others.
        unsafe { libc::pthread_kill(libc::pthread_self(), SIGNAL) };
        assert_eq!(handled(), before + 1);
        let blocked = Blocked::new().unwrap();
        // SAFETY: as above.
        unsafe { libc::pthread_kill(libc::pthread_self(), SIGNAL) };
        assert_eq!(handled(), before + 1, "it is kept back");
        blocked.wait().unwrap();
        // SAFETY: as above.
        unsafe { libc::pthread_kill(libc::pthread_self(), SIGNAL) };
        drop(blocked);
        assert_eq!(handled(), before + 1, "what was kept back is taken");
        reset();
        assert_eq!(install(Handler::First).unwrap(), None);
        reset();
    }
}
