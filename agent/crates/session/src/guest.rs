//! Process 1 of a guest kernel (user-mode Linux, a VM): makes the guest usable, serves one request
//! (or, started as `init endpoint`, the commands of a test between hosts) over its console or over
//! a virtio port, and powers the guest off.
//!
//! The agent is the whole user space of the guest, so nothing else runs beside what is measured.

use crate::machine;
use pentathlon_harness::Emitter;
use pentathlon_os::{address, guest as sys};
use pentathlon_protocol::Event;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// File systems that a guest needs: source, directory, type. All are optional, because guests
/// differ in what they have; what is missing shows in the inventory as `unsupported`.
pub(super) const MOUNTS: [(&str, &str, &str); 6] = [
    ("proc", "/proc", "proc"),
    ("sysfs", "/sys", "sysfs"),
    ("devtmpfs", "/dev", "devtmpfs"),
    ("tmpfs", "/dev/shm", "tmpfs"),
    ("tmpfs", "/tmp", "tmpfs"),
    ("tmpfs", "/run", "tmpfs"),
];

/// Lists the kernel modules that the guest's maker put beside the agent, in the order of loading.
const MODULES: &str = "/modules/order";

/// Lists the modules of protocols for tests between hosts, likewise. One that the kernel refuses
/// shows where its protocol is requested.
const NETWORK_MODULES: &str = "/modules/network";

/// Name of the virtio port for the request and the events, where the guest has one.
const PORT: &str = "pentathlon";

/// The port appears when the last module has found its device.
const PORT_WAIT: Duration = Duration::from_secs(20);

/// Loads the guest's modules and takes the port as standard input and output. A serial console
/// would do, but sends byte by byte by interrupts, long after the event was written: into the
/// next sample.
fn take_port(list: &str) -> io::Result<()> {
    for path in list.lines() {
        let loaded = std::fs::File::open(path).and_then(|file| sys::load_module(&file));
        if let Err(error) = loaded {
            writeln!(io::stderr(), "pentathlon-agent init: {path}: {error}").ok();
        }
    }
    let start = Instant::now();
    loop {
        if let Some(device) = port_device(Path::new("/sys/class/virtio-ports"), PORT) {
            let port = std::fs::File::options()
                .read(true)
                .write(true)
                .open(Path::new("/dev").join(device))?;
            return sys::use_as_stdio(&port);
        }
        if start.elapsed() > PORT_WAIT {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                format!("there is no virtio port {PORT}"),
            ));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The device of the port with that name, as sysfs lists it.
fn port_device(class: &Path, name: &str) -> Option<std::ffi::OsString> {
    std::fs::read_dir(class).ok()?.flatten().find_map(|entry| {
        let reported = std::fs::read_to_string(entry.path().join("name")).ok()?;
        (reported.trim() == name).then(|| entry.file_name())
    })
}

/// Runs as process 1. Does not return.
pub fn init() -> ! {
    for (source, directory, kind) in MOUNTS {
        std::fs::create_dir_all(directory).ok();
        sys::mount(source, directory, kind).ok();
    }
    // Kernel messages below emergencies stay in the kernel's log: the console carries events.
    std::fs::write("/proc/sys/kernel/printk", "1 4 1 7").ok();
    if let Ok(list) = std::fs::read_to_string(MODULES) {
        if let Err(error) = take_port(&list) {
            writeln!(io::stderr(), "pentathlon-agent init: {error}").ok();
            sys::power_off();
        }
    }
    sys::raw_console();
    let mut words = std::env::args().skip_while(|word| word != "endpoint" && word != "userland");
    let mode = words.next();
    let endpoint = mode.as_deref() == Some("endpoint");
    let named: Vec<_> = words.take_while(|word| word.starts_with('/')).collect();
    if endpoint {
        let list = std::fs::read_to_string(NETWORK_MODULES).unwrap_or_default();
        for path in list.lines() {
            std::fs::File::open(path)
                .and_then(|file| sys::load_module(&file))
                .ok();
        }
    }
    // The loopback interface exists on every system and is down at boot.
    address::up("lo").ok();
    let mut program = std::env::current_exe();
    if let Some(root) = named.first() {
        program = program.and_then(|agent| match endpoint {
            true => machine::enter(&agent, &named),
            false => machine::enter_userland(&agent, root, named.get(1).map(String::as_str)),
        });
    }
    let ready = Event::Log {
        level: "info",
        message: "ready".into(),
    };
    Emitter::new(io::stdout(), pentathlon_harness::clock::monotonic_ns())
        .send(&ready)
        .ok();
    // The agent proper is a child: as process 1 it would inherit every orphan of the workloads.
    let verb = if endpoint { "endpoint" } else { "run" };
    let served = program.and_then(|program| std::process::Command::new(program).arg(verb).status());
    if let Err(error) = served {
        writeln!(
            io::stderr(),
            "pentathlon-agent init: {verb} could not be started: {error}"
        )
        .ok();
    }
    sys::drain_console();
    sys::power_off()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_found_by_its_name() {
        let class = std::env::temp_dir().join(format!("pentathlon-ports-{}", std::process::id()));
        for (device, name) in [("vport0p1", "other\n"), ("vport1p1", "pentathlon\n")] {
            let path = class.join(device);
            std::fs::create_dir_all(&path).unwrap();
            std::fs::write(path.join("name"), name).unwrap();
        }
        assert_eq!(port_device(&class, PORT).unwrap(), "vport1p1");
        assert_eq!(port_device(&class, "third"), None);
        std::fs::remove_dir_all(&class).unwrap();
        assert_eq!(port_device(Path::new("/nowhere"), PORT), None);
    }
}
