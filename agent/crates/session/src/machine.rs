//! The programs of the machine that a guest runs on, for the guest.
//!
//! The guest sees the machine's own root directory, read-only, with file systems of its own where a
//! system keeps what is written, and starts its agent there. Servers and clients that are installed
//! on the machine then run on the guest's kernel.

use super::guest::MOUNTS;
use pentathlon_os::guest::{add_entropy, mount, mount_as, SEED_BYTES};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Where the machine's root directory lies until it is the guest's.
const MACHINE: &str = "/machine";

/// Tag of the device that shows it to a virtual machine (pentathlon/targets/qemu/shares.py).
const MACHINE_TAG: &str = "machine";

/// Tags of those that show what is writable, with a number behind: a tag has no room for a path.
const WRITABLE_TAG: &str = "writable";

/// The agent's place in it, on a file system in memory.
const AGENT: &str = "/run/pentathlon-agent";

/// What a shell would look through, and where programs may write what they need for a while; a
/// kernel reports process 1 neither.
const ENVIRONMENT: [(&str, &str); 2] = [
    (
        "PATH",
        "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    ),
    ("TMPDIR", "/run"),
];

/// Stays the machine's: programs may be installed there, and what is writable may lie there.
const KEPT: &str = "/tmp";

/// Where the files of commands lie in a user land, and the tag of the device that shows them.
const FILES: &str = "/run/pentathlon-files";
const FILES_TAG: &str = "files";

/// What the user land of commands has in memory beside the mounts of every guest: programs expect
/// to write there.
const ALSO_IN_MEMORY: &str = "/var/tmp";

/// Makes the machine's root directory the guest's own, and returns the agent's path in it.
///
/// The directories `writable` of the machine may be written to; all others may only be read.
pub fn enter(agent: &Path, writable: &[String]) -> io::Result<PathBuf> {
    std::fs::create_dir_all(MACHINE)?;
    show(None, MACHINE, MACHINE_TAG, true).map_err(naming(MACHINE))?;
    for (source, directory, kind) in MOUNTS {
        if directory == KEPT {
            continue;
        }
        // As in the guest's first root: what the kernel lacks is left out.
        mount(source, &format!("{MACHINE}{directory}"), kind).ok();
    }
    for (number, directory) in writable.iter().enumerate() {
        let place = format!("{MACHINE}{directory}");
        let tag = format!("{WRITABLE_TAG}{number}");
        std::fs::create_dir_all(&place)
            .and_then(|()| show(Some(directory), &place, &tag, false))
            .map_err(naming(directory))?;
    }
    change_root(agent)
}

/// Makes a user land the guest's own, and returns the agent's path in it: a root directory of the
/// machine, only for reading, with file systems in memory where programs write.
///
/// `files`, if named, is a directory of the machine that is shown at [`FILES`].
pub fn enter_userland(agent: &Path, root: &str, files: Option<&str>) -> io::Result<PathBuf> {
    std::fs::create_dir_all(MACHINE)?;
    show(Some(root), MACHINE, MACHINE_TAG, true).map_err(naming(root))?;
    for (source, directory, kind) in MOUNTS {
        mount(source, &format!("{MACHINE}{directory}"), kind).ok();
    }
    mount("tmpfs", &format!("{MACHINE}{ALSO_IN_MEMORY}"), "tmpfs").ok();
    if let Some(files) = files {
        let place = format!("{MACHINE}{FILES}");
        std::fs::create_dir_all(&place)
            .and_then(|()| show(Some(files), &place, FILES_TAG, true))
            .map_err(naming(files))?;
    }
    change_root(agent)
}

/// Starts anew in the directory [`MACHINE`], whose mounts are made.
fn change_root(agent: &Path) -> io::Result<PathBuf> {
    // A kernel that does not take them waits for its own, some seconds in 5.10.
    seed(&format!("{MACHINE}/dev")).ok();
    std::fs::copy(agent, format!("{MACHINE}{AGENT}")).map_err(naming(AGENT))?;
    std::os::unix::fs::chroot(MACHINE)?;
    std::env::set_current_dir("/")?;
    for (name, value) in ENVIRONMENT {
        std::env::set_var(name, value);
    }
    // Servers request the name of their host, and take no empty one.
    std::fs::write("/proc/sys/kernel/hostname", "pentathlon").ok();
    Ok(PathBuf::from(AGENT))
}

/// Mounts a directory of the machine, its root if none is named. User-mode Linux is a process of the
/// machine and opens its files (hostfs); a virtual machine has a device for each directory
/// (virtiofs), known by its tag.
fn show(directory: Option<&str>, place: &str, tag: &str, read_only: bool) -> io::Result<()> {
    match mount_as("none", place, "hostfs", directory, read_only) {
        // The kernel does not know this file system, mount(2).
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {
            mount_as(tag, place, "virtiofs", None, read_only)
        }
        done => done,
    }
}

/// Random bytes of the machine, by the guest's device for them, for the guest's own.
fn seed(devices: &str) -> io::Result<()> {
    let mut bytes = [0; SEED_BYTES];
    std::fs::File::open(format!("{devices}/hwrng"))?.read_exact(&mut bytes)?;
    let random = std::fs::File::options()
        .write(true)
        .open(format!("{devices}/random"))?;
    add_entropy(&random, bytes)
}

fn naming(directory: &str) -> impl Fn(io::Error) -> io::Error + '_ {
    move |error| io::Error::new(error.kind(), format!("{directory}: {error}"))
}
