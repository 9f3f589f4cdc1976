//! Process groups, so that a workload and everything it started can be ended together.

use rustix::process::{kill_process_group, waitid, Pid, Signal, WaitId, WaitIdOptions};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

/// The started process leads a process group of its own.
pub fn own_group(command: &mut Command) {
    command.process_group(0);
}

/// Whether a child has ended; it stays to be waited for (`waitid(2)`).
pub fn has_ended(child: &mut Child) -> io::Result<bool> {
    let how = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let ended = waitid(WaitId::Pid(Pid::from_child(child)), how)?;
    Ok(ended.is_some())
}

/// Waits until a child has ended; it stays to be waited for (`waitid(2)`), so its id stays its own.
pub fn wait_for_end(child: &mut Child) -> io::Result<()> {
    let how = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::Pid(Pid::from_child(child)), how) {
            Err(rustix::io::Errno::INTR) => {}
            other => return Ok(other.map(drop)?),
        }
    }
}

/// The process group that a child leads.
#[derive(Debug)]
pub struct Group(Pid);

impl Group {
    /// The group of a child that was started with [`own_group`].
    pub fn of(child: &Child) -> io::Result<Self> {
        Ok(Self(Pid::from_child(child)))
    }

    /// Kills every process of the group. The leader must not have been waited for: its id could be
    /// another's by then.
    pub fn kill(&self) {
        kill_process_group(self.0, Signal::KILL).ok();
    }
}
