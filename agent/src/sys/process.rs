//! Process groups, so that a workload and everything it started can be ended together.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// The started process leads a process group of its own.
pub fn own_group(command: &mut Command) {
    command.process_group(0);
}

/// Kills the process group that `leader` leads, if it still exists.
pub fn kill_group(leader: u32) {
    // SAFETY: plain integers; the leader is our own unreaped child, so the id is not another's.
    unsafe { libc::kill(-(leader as i32), libc::SIGKILL) };
}
