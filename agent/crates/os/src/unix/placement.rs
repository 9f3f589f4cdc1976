//! Where and with which priority this process runs, on Unix systems other than Linux:
//! `setpriority(2)`. CPUs and policies are set there by calls of their own, which are not written.

use std::io;

fn not_written(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        format!("{what} are written for Linux and Windows only"),
    )
}

pub fn set_cpus(_cpus: &[usize]) -> io::Result<()> {
    Err(not_written("affinities"))
}

pub fn cpus() -> io::Result<Vec<usize>> {
    Err(not_written("affinities"))
}

pub fn set_policy(_policy: i32, _priority: i32) -> io::Result<()> {
    Err(not_written("scheduling policies"))
}

pub fn policy() -> io::Result<(i32, i32)> {
    Err(not_written("scheduling policies"))
}

pub fn set_nice(nice: i32) -> io::Result<()> {
    // SAFETY: plain integers.
    if unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

pub fn nice() -> i32 {
    // SAFETY: plain integers; -1 is also a nice value, and this process always exists.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) }
}
