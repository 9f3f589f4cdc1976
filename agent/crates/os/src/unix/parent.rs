//! What ties a process to the one that started it: `prctl(2)`, `poll(2)`.

use rustix::event::{poll, PollFd, PollFlags, Timespec};

/// Lets the kernel kill this process when its parent ends (Linux; nothing elsewhere).
#[inline(never)]
pub fn die_with_parent() {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)).ok();
}

/// Whether standard output is a pipe that nobody can read any more.
#[inline(never)]
pub fn output_is_abandoned() -> bool {
    let output = std::io::stdout();
    let mut output = [PollFd::new(&output, PollFlags::empty())];
    let ready = poll(&mut output, Some(&Timespec::default()));
    ready == Ok(1) && output[0].revents().contains(PollFlags::ERR)
}
