//! Process 1 of a guest kernel (user-mode Linux, a VM): makes the guest usable, serves one request
//! over its console, and powers the guest off.
//!
//! The agent is the whole user space of the guest, so nothing else runs beside what is measured.

use crate::protocol::{Emitter, Event};
use crate::sys::guest as sys;
use std::io::{self, Write};

/// File systems that a guest needs: source, directory, type. All are optional, because guests
/// differ in what they have; what is missing shows in the inventory as `unsupported`.
const MOUNTS: [(&str, &str, &str); 6] = [
    ("proc", "/proc", "proc"),
    ("sysfs", "/sys", "sysfs"),
    ("devtmpfs", "/dev", "devtmpfs"),
    ("tmpfs", "/dev/shm", "tmpfs"),
    ("tmpfs", "/tmp", "tmpfs"),
    ("tmpfs", "/run", "tmpfs"),
];

/// Runs as process 1. Does not return.
pub fn init() -> ! {
    for (source, directory, kind) in MOUNTS {
        std::fs::create_dir_all(directory).ok();
        sys::mount(source, directory, kind).ok();
    }
    // Kernel messages below emergencies stay in the kernel's log: the console carries events.
    std::fs::write("/proc/sys/kernel/printk", "1 4 1 7").ok();
    sys::raw_console();
    // The loopback interface exists on every system and is down at boot.
    sys::loopback_up().ok();
    let ready = Event::Log {
        level: "info",
        message: "ready".into(),
    };
    Emitter::new(io::stdout(), crate::clock::monotonic_ns())
        .send(&ready)
        .ok();
    // The agent proper is a child: as process 1 it would inherit every orphan of the workloads.
    let served = std::env::current_exe()
        .and_then(|program| std::process::Command::new(program).arg("run").status());
    if let Err(error) = served {
        writeln!(
            io::stderr(),
            "pentathlon-agent init: run could not be started: {error}"
        )
        .ok();
    }
    sys::drain_console();
    sys::power_off()
}
