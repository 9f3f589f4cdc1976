//! Process groups, so that a workload and everything it started can be ended together.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

/// The started process leads a process group of its own.
pub fn own_group(command: &mut Command) {
    command.process_group(0);
}

/// Whether a child has ended; it stays to be waited for (`waitid(2)`).
pub fn has_ended(child: &mut Child) -> io::Result<bool> {
    // SAFETY: siginfo_t is plain data, for which all zeros is a value; the kernel fills it in.
    unsafe {
        let mut told: libc::siginfo_t = std::mem::zeroed();
        let how = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        if libc::waitid(libc::P_PID, child.id() as libc::id_t, &mut told, how) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(told.si_pid() != 0)
    }
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
