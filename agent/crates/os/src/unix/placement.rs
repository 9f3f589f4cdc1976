//! Where and with which priority this process runs, on Unix systems other than Linux:
//! `setpriority(2)`. CPUs and policies are set there by calls of their own, which are not written.

use rustix::process::{getpriority_process, setpriority_process};
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
    Ok(setpriority_process(None, nice)?)
}

pub fn nice() -> i32 {
    getpriority_process(None).expect("this process exists")
}
