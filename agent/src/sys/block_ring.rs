//! A ring of blocks into which the kernel writes the frames of an interface: packet(7) and the
//! kernel documentation, networking/packet_mmap, TPACKET_V3.

use super::packet::link_address;
use super::socket::set;
use socket2::{Domain, Socket, Type};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::atomic::{fence, AtomicU32, Ordering};

const PACKET_RX_RING: libc::c_int = 5;
const PACKET_STATISTICS: libc::c_int = 6;
const PACKET_VERSION: libc::c_int = 10;
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
const TPACKET_V3: i32 = 2;
const STATUS_USER: u32 = 1;

/// 16 MiB: at 64 bytes of payload about 80,000 frames.
const BLOCK: usize = 512 * 1024;
const BLOCKS: usize = 32;
/// A block that is not full is handed over after so long, ms.
const RETIRE_MS: u32 = 1;

/// `struct tpacket_req3`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Request {
    block_size: u32,
    block_count: u32,
    frame_size: u32,
    frame_count: u32,
    retire_ms: u32,
    private: u32,
    features: u32,
}

/// One instruction of a socket's filter (`struct sock_filter`): only what it lets pass comes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Instruction {
    pub code: u16,
    pub yes: u8,
    pub no: u8,
    pub value: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Filter {
    length: u16,
    first: *const Instruction,
}

/// A frame in the ring.
pub struct Frame<'a> {
    /// When the kernel took it, ns since 1970.
    pub stamp_ns: u64,
    /// From the header of IP on.
    pub network: &'a [u8],
}

pub struct Ring {
    socket: Socket,
    start: *mut u8,
    next: usize,
}

// SAFETY: the mapping is used by one owner, which may be any thread.
unsafe impl Send for Ring {}

impl Ring {
    /// The frames that come to an interface and pass the filter. Needs CAP_NET_RAW.
    pub fn open(interface: u32, filter: &[Instruction]) -> io::Result<Self> {
        let socket = Socket::new(Domain::PACKET, Type::RAW, None)?;
        let fd = socket.as_fd();
        let program = Filter {
            length: u16::try_from(filter.len()).map_err(|_| io::ErrorKind::InvalidInput)?,
            first: filter.as_ptr(),
        };
        set(fd, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)?;
        set(fd, libc::SOL_PACKET, PACKET_VERSION, &TPACKET_V3)?;
        // Older kernels hand out what leaves too; the reader tells by the port.
        set(fd, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &1_i32).ok();
        let request = Request {
            block_size: BLOCK as u32,
            block_count: BLOCKS as u32,
            frame_size: 2048,
            frame_count: (BLOCK / 2048 * BLOCKS) as u32,
            retire_ms: RETIRE_MS,
            private: 0,
            features: 0,
        };
        set(fd, libc::SOL_PACKET, PACKET_RX_RING, &request)?;
        // SAFETY: a new mapping of a descriptor that is open; its result is checked.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                BLOCK * BLOCKS,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                socket.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let ring = Self {
            socket,
            start: start.cast(),
            next: 0,
        };
        let every = libc::ETH_P_ALL as u16;
        ring.socket.bind(&link_address(interface, every)?)?;
        Ok(ring)
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Hands out the frames of the next block, if the kernel has finished it; else false.
    pub fn block(&mut self, mut each: impl FnMut(Frame<'_>)) -> bool {
        // SAFETY: inside the mapping; the status is a word that both sides change as a whole.
        let status = unsafe {
            let block = self.start.add(self.next * BLOCK);
            &*block.add(8).cast::<AtomicU32>()
        };
        if status.load(Ordering::Acquire) & STATUS_USER == 0 {
            return false;
        }
        // SAFETY: the block is ours until its status is given back, and inside the mapping.
        let block = unsafe { std::slice::from_raw_parts(self.start.add(self.next * BLOCK), BLOCK) };
        let word = |at: usize| -> usize {
            block.get(at..at + 4).map_or(0, |four| {
                u32::from_ne_bytes(four.try_into().expect("4 bytes")) as usize
            })
        };
        let mut at = word(16);
        for _ in 0..word(12) {
            // struct tpacket3_hdr: next, seconds, nanoseconds, captured, length, status, mac, net.
            let stamp_ns = word(at + 4) as u64 * 1_000_000_000 + word(at + 8) as u64;
            let places = word(at + 24);
            let (link, network) = (places & 0xffff, places >> 16);
            let end = at + link + word(at + 12);
            if let Some(network) = block.get(at + network..end) {
                each(Frame { stamp_ns, network });
            }
            match word(at) {
                0 => break,
                step => at += step,
            }
        }
        fence(Ordering::SeqCst);
        status.store(0, Ordering::Release);
        self.next = (self.next + 1) % BLOCKS;
        true
    }

    /// Frames that found no room since this was asked last.
    pub fn dropped(&self) -> io::Result<u32> {
        // struct tpacket_stats_v3: packets, drops, freezes.
        let mut counts = [0_u32; 3];
        let mut length = size_of_val(&counts) as libc::socklen_t;
        // SAFETY: the counts are as long as the length says.
        let done = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                PACKET_STATISTICS,
                counts.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        match done {
            0 => Ok(counts[1]),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing borrows it any more.
        unsafe { libc::munmap(self.start.cast(), BLOCK * BLOCKS) };
    }
}
