//! What process 1 of a guest does to its kernel: mounts, console, power.

use crate::call::check;
use rustix::mount::MountFlags;
use rustix::stdio::{dup2_stdin, dup2_stdout};
use rustix::system::{finit_module, reboot, RebootCommand};
use rustix::termios::{tcdrain, tcgetattr, tcsetattr, OptionalActions};
use rustix::time::{clock_settime, ClockId, Timespec};
use std::ffi::CString;
use std::io;

pub fn mount(source: &str, directory: &str, kind: &str) -> io::Result<()> {
    mount_as(source, directory, kind, None, false)
}

/// mount(2) with what the file system gets as data, such as the directory of the host that a hostfs is
/// to show, and whether it is only for reading.
pub fn mount_as(
    source: &str,
    directory: &str,
    kind: &str,
    reported: Option<&str>,
    read_only: bool,
) -> io::Result<()> {
    let reported = reported.map(CString::new).transpose()?;
    let flags = if read_only {
        MountFlags::RDONLY
    } else {
        MountFlags::empty()
    };
    Ok(rustix::mount::mount(
        source,
        directory,
        kind,
        flags,
        reported.as_deref(),
    )?)
}

/// Loads a kernel module from a file, finit_module(2).
pub fn load_module(file: &std::fs::File) -> io::Result<()> {
    // No parameters for the module, and no flags.
    Ok(finit_module(file, c"", 0)?)
}

/// Bytes that [`add_entropy`] hands over, twice what the kernel waits for.
pub const SEED_BYTES: usize = 64;

/// RNDADDENTROPY, random(4): `_IOW('R', 0x03, int[2])`.
const ADD_ENTROPY: u32 = 0x4008_5203;

#[repr(C)]
struct Seed {
    bits: libc::c_int,
    size: libc::c_int,
    bytes: [u8; SEED_BYTES],
}

/// Gives the kernel random bytes, and credit for all of their bits, so that nobody waits for its
/// random numbers.
pub fn add_entropy(random: &std::fs::File, bytes: [u8; SEED_BYTES]) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let seed = Seed {
        bits: 8 * SEED_BYTES as libc::c_int,
        size: SEED_BYTES as libc::c_int,
        bytes,
    };
    // SAFETY: the kernel reads the two numbers and as many bytes as the second one says, which are
    // there until the call returns.
    check(unsafe { libc::ioctl(random.as_raw_fd(), ADD_ENTROPY as _, &raw const seed) } == 0)
}

/// Makes a file the process's standard input and output, dup2(2).
pub fn use_as_stdio(file: &std::fs::File) -> io::Result<()> {
    dup2_stdin(file)?;
    Ok(dup2_stdout(file)?)
}

/// Makes the console pass bytes as they are: no echo, no line editing, no CR.
pub fn raw_console() {
    if let Ok(mut settings) = tcgetattr(io::stdin()) {
        settings.make_raw();
        tcsetattr(io::stdin(), OptionalActions::Now, &settings).ok();
    }
}

/// Waits until everything written to the console has left the guest.
pub fn drain_console() {
    tcdrain(io::stdout()).ok();
}

/// Powers the guest off; anything but process 1 only ends itself.
pub fn power_off() -> ! {
    if is_init() {
        // Only process 1 gets here, and process 1 of a machine is this program only where it was
        // started to be a guest's whole user space. The check stands right before the call, because
        // a guest whose kernel dies can live on as a program of its host.
        rustix::fs::sync();
        reboot(RebootCommand::PowerOff).ok();
    }
    std::process::exit(1)
}

/// Whether this is process 1.
pub fn is_init() -> bool {
    std::process::id() == 1
}
/// Sets the system's clock: clock_settime(2) of CLOCK_REALTIME, ns since 1970.
pub fn set_clock(to_ns: u64) -> io::Result<()> {
    let time = Timespec {
        tv_sec: (to_ns / 1_000_000_000) as i64,
        tv_nsec: (to_ns % 1_000_000_000) as _,
    };
    Ok(clock_settime(ClockId::Realtime, time)?)
}
