//! What process 1 of a guest does to its kernel: mounts, console, power.

use std::ffi::CString;
use std::io;

pub fn mount(source: &str, directory: &str, kind: &str) -> io::Result<()> {
    mount_as(source, directory, kind, None, false)
}

/// mount(2) with what the file system is told, such as the directory of the host that a hostfs is
/// to show, and whether it is only for reading.
pub fn mount_as(
    source: &str,
    directory: &str,
    kind: &str,
    told: Option<&str>,
    read_only: bool,
) -> io::Result<()> {
    let source = CString::new(source)?;
    let directory = CString::new(directory)?;
    let kind = CString::new(kind)?;
    let told = told.map(CString::new).transpose()?;
    // SAFETY: the strings live to the end of the call; all that is told is one of them or nothing.
    let result = unsafe {
        libc::mount(
            source.as_ptr(),
            directory.as_ptr(),
            kind.as_ptr(),
            if read_only { libc::MS_RDONLY } else { 0 },
            told.as_ref()
                .map_or(std::ptr::null(), |text| text.as_ptr().cast()),
        )
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Loads a kernel module from a file, finit_module(2).
pub fn load_module(file: &std::fs::File) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    // SAFETY: the descriptor is open, the text (no module parameters) is a constant with its end.
    let result =
        unsafe { libc::syscall(libc::SYS_finit_module, file.as_raw_fd(), c"".as_ptr(), 0) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
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
    match unsafe { libc::ioctl(random.as_raw_fd(), ADD_ENTROPY as _, &raw const seed) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Makes a file the process's standard input and output, dup2(2).
pub fn use_as_stdio(file: &std::fs::File) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    for descriptor in [0, 1] {
        // SAFETY: both are plain descriptors; what they stood for before is not used again.
        if unsafe { libc::dup2(file.as_raw_fd(), descriptor) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Makes the console pass bytes as they are: no echo, no line editing, no CR.
pub fn raw_console() {
    // SAFETY: the zeroed termios is filled by tcgetattr before it is used.
    unsafe {
        let mut settings: libc::termios = std::mem::zeroed();
        if libc::tcgetattr(0, &mut settings) == 0 {
            libc::cfmakeraw(&mut settings);
            libc::tcsetattr(0, libc::TCSANOW, &settings);
        }
    }
}

/// Waits until everything written to the console has left the guest.
pub fn drain_console() {
    // SAFETY: plain file descriptor.
    unsafe { libc::tcdrain(1) };
}

/// Powers the guest off; anything but process 1 only ends itself.
pub fn power_off() -> ! {
    if is_init() {
        // SAFETY: no memory is passed. Only process 1 gets here, and process 1 of a machine is this
        // program only where it was started to be a guest's whole user space. The check stands
        // right before the call, because a guest whose kernel dies can live on as a program of its
        // host.
        unsafe {
            libc::sync();
            libc::reboot(libc::LINUX_REBOOT_CMD_POWER_OFF);
        }
    }
    std::process::exit(1)
}

/// Whether this is process 1.
pub fn is_init() -> bool {
    std::process::id() == 1
}
/// Sets the system's clock: clock_settime(2) of CLOCK_REALTIME, ns since 1970.
pub fn set_clock(to_ns: u64) -> io::Result<()> {
    let time = libc::timespec {
        tv_sec: (to_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (to_ns % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: the kernel only reads the time.
    match unsafe { libc::clock_settime(libc::CLOCK_REALTIME, &raw const time) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
