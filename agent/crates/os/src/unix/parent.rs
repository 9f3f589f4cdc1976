//! What ties a process to the one that started it: `prctl(2)`, `poll(2)`, `sigaction(2)`.

use rustix::event::{poll, PollFd, PollFlags, Timespec};

/// Lets the kernel kill this process when its parent ends (Linux; nothing elsewhere).
#[inline(never)]
pub fn die_with_parent() {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)).ok();
}

/// Goes on when a terminal, a connection or a service manager asks this process to end. What it
/// starts does not: a handler, unlike a signal that is ignored, is not inherited by `execve(2)`.
pub fn outlive_signals() {
    extern "C" fn nothing(_signal: i32) {}
    let nothing: extern "C" fn(i32) = nothing;
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
        // SAFETY: sigaction is plain data, for which all zeros is a value; the handler does nothing.
        unsafe {
            let mut new: libc::sigaction = std::mem::zeroed();
            new.sa_sigaction = nothing as libc::sighandler_t;
            new.sa_flags = libc::SA_RESTART;
            libc::sigemptyset(&mut new.sa_mask);
            libc::sigaction(signal, &new, std::ptr::null_mut());
        }
    }
}

/// Whether standard output is a pipe that nobody can read any more.
#[inline(never)]
pub fn output_is_abandoned() -> bool {
    let output = std::io::stdout();
    let mut output = [PollFd::new(&output, PollFlags::empty())];
    let ready = poll(&mut output, Some(&Timespec::default()));
    ready == Ok(1) && output[0].revents().contains(PollFlags::ERR)
}
