//! Where and with which priority this process runs: `sched_setaffinity(2)`,
//! `sched_setscheduler(2)`, `setpriority(2)`.

use std::io;

/// Restricts this process to `cpus`.
pub fn set_cpus(cpus: &[usize]) -> io::Result<()> {
    // SAFETY: an all-zero cpu_set_t is an empty set, and CPU_SET is given only indices in range.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for &cpu in cpus {
            if cpu >= libc::CPU_SETSIZE as usize {
                return Err(io::Error::from_raw_os_error(libc::EINVAL));
            }
            libc::CPU_SET(cpu, &mut set);
        }
        check(libc::sched_setaffinity(
            0,
            std::mem::size_of::<libc::cpu_set_t>(),
            &set,
        ))
    }
}

/// The CPUs that this process may run on.
pub fn cpus() -> io::Result<Vec<usize>> {
    // SAFETY: the set is zeroed, and the kernel writes at most its size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        check(libc::sched_getaffinity(
            0,
            std::mem::size_of::<libc::cpu_set_t>(),
            &mut set,
        ))?;
        Ok((0..libc::CPU_SETSIZE as usize)
            .filter(|&cpu| libc::CPU_ISSET(cpu, &set))
            .collect())
    }
}

/// Sets the scheduling policy (a `SCHED_*` constant) and its static priority.
pub fn set_policy(policy: i32, priority: i32) -> io::Result<()> {
    let parameters = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: `parameters` is valid for the length of the call.
    check(unsafe { libc::sched_setscheduler(0, policy, &parameters) })
}

/// The scheduling policy in force (a `SCHED_*` constant) and its static priority.
pub fn policy() -> io::Result<(i32, i32)> {
    let mut parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: `parameters` is valid to write to.
    unsafe {
        let policy = libc::sched_getscheduler(0);
        check(policy.min(0))?;
        check(libc::sched_getparam(0, &mut parameters))?;
        Ok((policy, parameters.sched_priority))
    }
}

pub fn set_nice(nice: i32) -> io::Result<()> {
    // SAFETY: plain integers.
    check(unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) })
}

pub fn nice() -> i32 {
    // SAFETY: plain integers; -1 is also a nice value, and this process always exists.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) }
}

fn check(result: i32) -> io::Result<()> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
