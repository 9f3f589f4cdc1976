//! Process groups, so that a workload and everything it started can be ended together.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

/// The started process leads a process group of its own.
pub fn own_group(command: &mut Command) {
    command.process_group(0);
}

/// The process group that a child leads.
#[derive(Debug)]
pub struct Group(libc::pid_t);

impl Group {
    /// The group of a child that was started with [`own_group`].
    pub fn of(child: &Child) -> io::Result<Self> {
        Ok(Self(child.id() as libc::pid_t))
    }

    /// Kills every process of the group. The leader must not have been waited for: its id could be
    /// another's by then.
    pub fn kill(&self) {
        // SAFETY: plain integers; the leader is our own unreaped child.
        unsafe { libc::kill(-self.0, libc::SIGKILL) };
    }
}
