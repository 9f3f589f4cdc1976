//! Where and with which priority this process runs: `sched_setaffinity(2)`,
//! `sched_setscheduler(2)`, `setpriority(2)`.

use crate::call::check;
use rustix::process::{getpriority_process, setpriority_process};
use rustix::thread::{sched_getaffinity, sched_setaffinity, CpuSet};
use std::io;

/// Restricts this process to `cpus`.
#[inline(never)]
pub fn set_cpus(cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= CpuSet::MAX_CPU {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        set.set(cpu);
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// The CPUs that this process may run on.
#[inline(never)]
pub fn cpus() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .collect())
}

/// Sets the scheduling policy (a `SCHED_*` constant) and its static priority.
pub fn set_policy(policy: i32, priority: i32) -> io::Result<()> {
    let parameters = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: `parameters` is valid for the length of the call.
    check(unsafe { libc::sched_setscheduler(0, policy, &parameters) } >= 0)
}

/// The scheduling policy in force (a `SCHED_*` constant) and its static priority.
pub fn policy() -> io::Result<(i32, i32)> {
    let mut parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: `parameters` is valid to write to.
    unsafe {
        let policy = libc::sched_getscheduler(0);
        check(policy >= 0)?;
        check(libc::sched_getparam(0, &mut parameters) >= 0)?;
        Ok((policy, parameters.sched_priority))
    }
}

#[inline(never)]
pub fn set_nice(nice: i32) -> io::Result<()> {
    Ok(setpriority_process(None, nice)?)
}

#[inline(never)]
pub fn nice() -> i32 {
    getpriority_process(None).expect("this process exists")
}
