//! What the kernel says of itself without any file: `uname(2)`, `sysconf(3)`, `getauxval(3)`,
//! `sched_getcpu(3)`, `geteuid(2)`, `syslog(2)`.

use std::ffi::CStr;

/// The answer of `uname(2)` without the node's name, which says whose machine this is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uname {
    pub name: String,
    pub release: String,
    pub version: String,
    pub machine: String,
}

pub fn uname() -> Uname {
    let raw = rustix::system::uname();
    let text = |field: &CStr| field.to_string_lossy().into_owned();
    Uname {
        name: text(raw.sysname()),
        release: text(raw.release()),
        version: text(raw.version()),
        machine: text(raw.machine()),
    }
}

/// Bytes of a page of memory.
pub fn page_bytes() -> Option<u64> {
    sysconf(libc::_SC_PAGESIZE)
}

/// Ticks per second of the times in `/proc` (USER_HZ, which is not the kernel's own HZ).
pub fn ticks_per_second() -> Option<u64> {
    sysconf(libc::_SC_CLK_TCK)
}

/// CPUs that are online.
pub fn online_cpus() -> Option<u64> {
    sysconf(libc::_SC_NPROCESSORS_ONLN)
}

fn sysconf(name: libc::c_int) -> Option<u64> {
    // SAFETY: plain integers.
    u64::try_from(unsafe { libc::sysconf(name) })
        .ok()
        .filter(|&value| value > 0)
}

/// The CPU that this thread runs on at this moment.
pub fn current_cpu() -> Option<usize> {
    // SAFETY: takes no argument.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// Whether the kernel maps a vDSO into this process, through which clocks are read without a
/// system call.
pub fn has_vdso() -> bool {
    // SAFETY: plain integers.
    unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) != 0 }
}

/// Whether this process acts as root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The last lines of the kernel's log, at most 16 KiB; none without the permission to read it.
pub fn log() -> Option<String> {
    const SYSLOG_ACTION_READ_ALL: libc::c_int = 3;
    let mut text = vec![0_u8; 16 * 1024];
    // SAFETY: the kernel writes at most the length given.
    let length = unsafe {
        libc::klogctl(
            SYSLOG_ACTION_READ_ALL,
            text.as_mut_ptr().cast(),
            libc::c_int::try_from(text.len()).ok()?,
        )
    };
    text.truncate(usize::try_from(length).ok()?);
    Some(String::from_utf8_lossy(&text).into_owned())
}
