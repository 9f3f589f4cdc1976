//! Child processes made by `fork(2)`, with `waitpid(2)`, `execve(2)` and `_exit(2)`.

use crate::call::{check_uninterrupted, numbered};
pub use crate::ending::Ending as Exit;
use crate::heap;
use crate::outcome::{self, Ended};
use pentathlon_code::{Level, Pipe, Processes};
use std::convert::Infallible;
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::mem::size_of;
use std::os::fd::AsRawFd;

/// A child that has not been waited for. Dropped, it is killed and reaped, so that no path leaves
/// a process behind.
pub struct Child(libc::pid_t);

/// Runs `work` in a copy of this process, whose exit status is what `work` returns.
///
/// This process must have a single thread: in the copy every other thread is gone, with the locks
/// that it held. The copy leaves by `_exit`, so no destructor runs twice and no buffer is written
/// twice; a panic in `work` ends it with SIGABRT.
#[inline(always)]
pub fn fork(work: impl FnOnce() -> u8) -> io::Result<Child> {
    // SAFETY: see above; the copy never returns from here.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            struct NoUnwinding;
            impl Drop for NoUnwinding {
                fn drop(&mut self) {
                    std::process::abort();
                }
            }
            let guard = NoUnwinding;
            let status = work();
            std::mem::forget(guard);
            // SAFETY: a plain integer; does not return.
            unsafe { libc::_exit(i32::from(status)) }
        }
        pid => Ok(Child(pid)),
    }
}

impl Child {
    /// Waits until the child ends and reaps it.
    #[inline(always)]
    pub fn wait(self) -> io::Result<Exit> {
        let exit = self.reap();
        std::mem::forget(self);
        exit
    }

    /// The process id.
    #[inline(always)]
    pub fn id(&self) -> u32 {
        self.0 as u32
    }

    /// Kills the child and reaps it; returns how it ended, which may have been before.
    #[inline]
    pub fn kill(self) -> io::Result<Exit> {
        // SAFETY: plain integers; the child is ours and not yet reaped, so the id is not another's.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
        self.wait()
    }

    #[inline(always)]
    fn reap(&self) -> io::Result<Exit> {
        let mut status = 0;
        // SAFETY: `status` is valid to write to, and the child is ours and not yet reaped.
        check_uninterrupted(|| unsafe { libc::waitpid(self.0, &mut status, 0) } == self.0)?;
        Ok(Exit::of(status))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: plain integers; the child is ours and not yet reaped, so the id is not another's.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
        self.reap().ok();
    }
}

/// The calls for loops that are compiled at a level.
const PROCESSES: Processes = Processes {
    fork: libc::fork,
    leave: libc::_exit,
    wait: wait_for,
};

/// The exit status of a child, or 256 and its signal; negative: there is no such child.
extern "C" fn wait_for(child: i32) -> i32 {
    let child = Child(child);
    let exit = child.reap();
    std::mem::forget(child);
    match exit {
        Ok(Exit::Code(code)) => code,
        Ok(Exit::Signal(signal)) => 256 + signal,
        Err(_) => -1,
    }
}

extern "C" fn send(to: isize, number: u64) -> i32 {
    let bytes = number.to_ne_bytes();
    // SAFETY: the bytes live to the end of the call.
    let sent = unsafe { libc::write(to as i32, bytes.as_ptr().cast(), bytes.len()) };
    i32::from(sent != bytes.len() as isize)
}

unsafe extern "C" fn receive(from: isize, number: *mut u64) -> i32 {
    // SAFETY: the caller promises room for a number.
    let got = unsafe { libc::read(from as i32, number.cast(), size_of::<u64>()) };
    i32::from(got != size_of::<u64>() as isize)
}

/// Forks, lets the child end at once with `status` and waits for it, so many times; how often it
/// ended so. This process must have a single thread.
#[inline]
pub fn fork_wait(level: Level, operations: u64, status: u8) -> Result<u64, Ended> {
    // SAFETY: these are the system's calls; the child does nothing but leave.
    outcome::of(unsafe { (level.loops.fork_wait)(operations, &PROCESSES, i32::from(status)) })
}

/// The sum of the nested loops with a child for each repetition, which sends its part over the pipe.
/// This process must have a single thread.
#[inline]
pub fn forked(
    level: Level,
    repetitions: u64,
    size: usize,
    (from, to): &(File, File),
) -> Result<u64, Ended> {
    let pipe = Pipe {
        send,
        receive,
        to: to.as_raw_fd() as isize,
        from: from.as_raw_fd() as isize,
    };
    // SAFETY: these are the system's calls; a child computes, writes to the pipe and leaves.
    outcome::of(unsafe { (level.loops.forked)(&heap::HEAP, &PROCESSES, &pipe, repetitions, size) })
}

/// Replaces this process by the program at `path`, with its path as only argument and an empty
/// environment. Returns only if that fails.
#[inline]
pub fn execute(path: &CStr) -> io::Result<Infallible> {
    replace([path.as_ptr(), std::ptr::null()])
}

/// Replaces this process by the program at `path`, with its path and one more argument, and with an
/// empty environment. Returns only if that fails.
#[inline]
pub fn execute_with(path: &CStr, argument: &CStr) -> io::Result<Infallible> {
    replace([path.as_ptr(), argument.as_ptr(), std::ptr::null()])
}

/// Replaces this process by the program that the first of the arguments names, which end with null.
#[inline(always)]
fn replace<const N: usize>(arguments: [*const libc::c_char; N]) -> io::Result<Infallible> {
    let environment = [std::ptr::null()];
    // SAFETY: the callers' texts and both arrays live to the end of the call, and both arrays end
    // with null.
    unsafe { libc::execve(arguments[0], arguments.as_ptr(), environment.as_ptr()) };
    Err(io::Error::last_os_error())
}

/// Starts the program at `path` by `posix_spawn(3)`, with its path and one more argument, and with
/// an empty environment. The C libraries of Linux and the BSDs do not copy this process for it:
/// until the program runs, the child borrows the parent's memory, as `vfork(2)` does.
#[inline(always)]
pub fn spawn_with(path: &CStr, argument: &CStr) -> io::Result<Child> {
    let arguments = [
        path.as_ptr().cast_mut(),
        argument.as_ptr().cast_mut(),
        std::ptr::null_mut(),
    ];
    let environment = [std::ptr::null_mut()];
    let mut pid = 0;
    // SAFETY: `pid` is valid to write to, the texts and both arrays live to the end of the call and
    // are not written to, and both arrays end with null.
    let error = unsafe {
        libc::posix_spawn(
            &mut pid,
            path.as_ptr(),
            std::ptr::null(),
            std::ptr::null(),
            arguments.as_ptr(),
            environment.as_ptr(),
        )
    };
    numbered(error)?;
    Ok(Child(pid))
}

/// Bytes that the stack of the first thread may grow to; none without a limit.
#[inline]
pub fn stack_limit() -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is valid to write to.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &mut limit) };
    // A signed number on FreeBSD.
    #[allow(clippy::useless_conversion)]
    (result == 0 && limit.rlim_cur != libc::RLIM_INFINITY)
        .then_some(limit.rlim_cur)
        .and_then(|bytes| u64::try_from(bytes).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    // The test runner has threads, so the copies here do nothing that takes a lock.

    #[test]
    fn the_exit_status_is_what_the_work_returned() {
        for status in [0, 1, 42, 255] {
            let child = fork(|| status).unwrap();
            assert_eq!(child.wait().unwrap(), Exit::Code(i32::from(status)));
        }
    }

    #[test]
    fn a_signal_is_distinguished_from_a_status() {
        // SAFETY: plain integers; the child ends itself.
        let child = fork(|| unsafe { libc::kill(libc::getpid(), libc::SIGKILL) } as u8).unwrap();
        assert_eq!(child.wait().unwrap(), Exit::Signal(libc::SIGKILL));
    }

    #[test]
    fn a_dropped_child_is_gone() {
        let child = fork(|| loop {
            std::hint::spin_loop();
        })
        .unwrap();
        let pid = child.0;
        drop(child);
        // SAFETY: plain integers; signal 0 only asks.
        assert_eq!(unsafe { libc::kill(pid, 0) }, -1);
    }

    #[test]
    fn a_spawned_program_gets_its_argument() {
        // A shell that is given the name of a script that is not there reports it by its status.
        let child = spawn_with(c"/bin/sh", c"/nowhere/script").unwrap();
        assert!(matches!(child.wait().unwrap(), Exit::Code(2 | 127)));
        let error = spawn_with(c"/nowhere/nothing", c"x").map(drop).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let error = execute(c"/nowhere/nothing").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
    }
}
