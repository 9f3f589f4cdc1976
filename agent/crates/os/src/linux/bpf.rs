//! Programs and maps in the kernel: bpf(2), and memory that both share.

use crate::call::check;
use crate::mmap::Mapping;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::AtomicU64;

const MAP_CREATE: libc::c_long = 0;
const MAP_UPDATE_ELEM: libc::c_long = 2;
const PROG_LOAD: libc::c_long = 5;
const PROG_TEST_RUN: libc::c_long = 10;
const LINK_CREATE: libc::c_long = 28;
const MAP_TYPE_ARRAY: u32 = 2;
const MAP_TYPE_DEVMAP: u32 = 14;
const MAP_TYPE_XSKMAP: u32 = 17;
const F_MMAPABLE: u32 = 1 << 10;
const PROG_TYPE_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;
const XDP_FLAGS_DRV_MODE: u32 = 1 << 2;
const F_TEST_XDP_LIVE_FRAMES: u32 = 1 << 1;
/// The programs call no function that only programs under the GPL may call.
const LICENCE: &[u8] = b"Apache-2.0\0";

/// `union bpf_attr` as far as the calls here go.
#[repr(C, align(8))]
struct Attributes([u8; 120]);

impl Attributes {
    fn new() -> Self {
        Self([0; 120])
    }

    fn word(mut self, at: usize, value: u32) -> Self {
        self.0[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        self
    }

    fn address<T>(mut self, at: usize, pointer: *const T) -> Self {
        let value = pointer as usize as u64;
        self.0[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        self
    }
}

/// # Safety
/// What the attributes point at must be valid for what the command does with it.
unsafe fn bpf(
    command: libc::c_long,
    attributes: &mut Attributes,
    length: usize,
) -> io::Result<i32> {
    let place = attributes.0.as_mut_ptr();
    // SAFETY: `length` is within the attributes; the rest is the caller's promise.
    let done = unsafe { libc::syscall(libc::SYS_bpf, command, place, length) };
    check(done >= 0)?;
    Ok(done as i32)
}

/// # Safety
/// As [`bpf`], for commands that answer with a new descriptor.
unsafe fn open(
    command: libc::c_long,
    attributes: &mut Attributes,
    length: usize,
) -> io::Result<OwnedFd> {
    // SAFETY: the caller's promise; the descriptor is new and ours.
    unsafe { bpf(command, attributes, length).map(|fd| OwnedFd::from_raw_fd(fd)) }
}

/// An array of entries of whole 8-byte words, in memory that programs and this process share.
pub struct Array {
    memory: Mapping,
    descriptor: OwnedFd,
}

// SAFETY: the memory is reached through atomics only.
unsafe impl Send for Array {}
// SAFETY: as above.
unsafe impl Sync for Array {}

impl Array {
    pub fn new(entries: u32, words_each: u32) -> io::Result<Self> {
        let mut attributes = Attributes::new()
            .word(0, MAP_TYPE_ARRAY)
            .word(4, 4)
            .word(8, 8 * words_each)
            .word(12, entries)
            .word(16, F_MMAPABLE);
        // SAFETY: the attributes hold numbers only.
        let descriptor = unsafe { open(MAP_CREATE, &mut attributes, 72) }?;
        let words = entries as usize * words_each as usize;
        Ok(Self {
            memory: Mapping::of_socket(&descriptor, words * 8)?,
            descriptor,
        })
    }

    /// The number by which programs name the map.
    pub fn number(&self) -> i32 {
        self.descriptor.as_raw_fd()
    }

    #[inline]
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping is as long, is aligned to pages, lives as long as `self`, and is
        // changed by programs in whole words only.
        unsafe { std::slice::from_raw_parts(self.memory.start.cast(), self.memory.length / 8) }
    }
}

/// Where a program gives frames to: sockets by the queue that the frames came from, or interfaces.
pub struct Targets(OwnedFd);

impl Targets {
    /// One AF_XDP socket, for one queue.
    pub fn socket(queue: u32, socket: &impl AsRawFd) -> io::Result<Self> {
        Self::with(MAP_TYPE_XSKMAP, queue, socket.as_raw_fd() as u32)
    }

    /// One interface, under the number 0.
    pub fn interface(index: u32) -> io::Result<Self> {
        Self::with(MAP_TYPE_DEVMAP, 0, index)
    }

    fn with(kind: u32, key: u32, value: u32) -> io::Result<Self> {
        let mut attributes = Attributes::new()
            .word(0, kind)
            .word(4, 4)
            .word(8, 4)
            .word(12, key + 1);
        // SAFETY: the attributes hold numbers only.
        let map = unsafe { open(MAP_CREATE, &mut attributes, 72) }?;
        let mut entry = Attributes::new()
            .word(0, map.as_raw_fd() as u32)
            .address(8, &raw const key)
            .address(16, &raw const value);
        // SAFETY: key and value are of the lengths that the map was made with, and outlive the call.
        unsafe { bpf(MAP_UPDATE_ELEM, &mut entry, 32) }?;
        Ok(Self(map))
    }

    /// The number by which programs name the map.
    pub fn number(&self) -> i32 {
        self.0.as_raw_fd()
    }
}

/// A program for frames that the kernel has checked.
pub struct Program(OwnedFd);

impl Program {
    /// Loads the instructions of an XDP program. Where the kernel refuses them, the error ends
    /// with the last line of its reasons.
    pub fn load(code: &[u8]) -> io::Result<Self> {
        let mut log = vec![0_u8; 64 * 1024];
        let attributes = || {
            Attributes::new()
                .word(0, PROG_TYPE_XDP)
                .word(4, (code.len() / 8) as u32)
                .address(8, code.as_ptr())
                .address(16, LICENCE.as_ptr())
                .word(68, ATTACH_XDP)
        };
        // SAFETY: code and licence are as long as they are said to be and outlive the call.
        match unsafe { open(PROG_LOAD, &mut attributes(), 72) } {
            Ok(descriptor) => Ok(Self(descriptor)),
            // The checker speaks if it is given room to: ask once more.
            Err(first) if first.raw_os_error() == Some(libc::EPERM) => Err(first),
            Err(first) => {
                let mut again = attributes()
                    .word(24, 1)
                    .word(28, log.len() as u32)
                    .address(32, log.as_mut_ptr());
                // SAFETY: as above; the log is as long as it is said to be.
                if let Ok(descriptor) = unsafe { open(PROG_LOAD, &mut again, 72) } {
                    return Ok(Self(descriptor));
                }
                let stated = String::from_utf8_lossy(&log);
                let stated = stated.trim_end_matches('\0');
                let reason = stated
                    .lines()
                    .rfind(|line| !line.is_empty() && !line.starts_with("processed"))
                    .unwrap_or("no reason given");
                Err(io::Error::new(first.kind(), format!("{first}: {reason}")))
            }
        }
    }

    /// Lets an interface's driver give every frame that comes to the program, until the link is
    /// dropped or this process ends.
    pub fn attach(&self, interface: u32) -> io::Result<OwnedFd> {
        let mut attributes = Attributes::new()
            .word(0, self.0.as_raw_fd() as u32)
            .word(4, interface)
            .word(8, ATTACH_XDP)
            .word(12, XDP_FLAGS_DRV_MODE);
        // SAFETY: the attributes hold numbers only.
        unsafe { open(LINK_CREATE, &mut attributes, 48) }
    }

    /// Runs the program on `frame` again and again, and does with it what the program says
    /// (`BPF_F_TEST_XDP_LIVE_FRAMES`), until a signal comes, which is the error `Interrupted`.
    pub fn run_live(&self, frame: &[u8], repeat: u32, batch: u32) -> io::Result<()> {
        let mut attributes = Attributes::new()
            .word(0, self.0.as_raw_fd() as u32)
            .word(8, frame.len() as u32)
            .address(16, frame.as_ptr())
            .word(32, repeat)
            .word(64, F_TEST_XDP_LIVE_FRAMES)
            .word(72, batch);
        // SAFETY: the frame is as long as it is said to be, outlives the call and is only read.
        unsafe { bpf(PROG_TEST_RUN, &mut attributes, 80) }.map(|_| ())
    }
}
