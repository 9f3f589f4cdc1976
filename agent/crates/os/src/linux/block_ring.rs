//! A ring of blocks into which the kernel writes the frames of an interface: packet(7) and the
//! kernel documentation, networking/packet_mmap, TPACKET_V3.

use crate::mmap::Mapping;
use crate::packet::link_address;
use crate::socket::{get, set};
use socket2::{Domain, Socket, Type};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{fence, AtomicU32, Ordering};

const PACKET_RX_RING: libc::c_int = 5;
const PACKET_STATISTICS: libc::c_int = 6;
const PACKET_VERSION: libc::c_int = 10;
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
const TPACKET_V3: i32 = 2;
const STATUS_USER: u32 = 1;

const BLOCK: usize = 512 * 1024;
/// 16 MiB: at 64 bytes of payload about 80,000 frames.
const BLOCKS: usize = 32;
/// Blocks for both directions of an interface: 64 MiB, half a second at 1 Gbit/s.
const BLOCKS_OF_BOTH: usize = 128;
/// A block that is not full is handed over after so long, ms.
const RETIRE_MS: u32 = 1;
/// The same, where nobody waits for the frames.
pub const RETIRE_LATER_MS: u32 = 8;

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
    /// From the header of the link on.
    pub link: &'a [u8],
    /// From the header of IP on.
    pub network: &'a [u8],
    /// Its length on the link; `link` is shorter if the kernel cut it.
    pub length: u32,
}

/// What the kernel counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// Frames that came by, with those that were dropped.
    pub seen: u32,
    /// Frames for which the ring had no room.
    pub dropped: u32,
}

pub struct Ring {
    memory: Mapping,
    socket: Socket,
    blocks: usize,
    next: usize,
}

// SAFETY: the mapping is used by one owner, which may be any thread.
unsafe impl Send for Ring {}

impl Ring {
    /// The frames that come to an interface and pass the filter. Needs CAP_NET_RAW.
    #[inline]
    pub fn open(interface: u32, filter: &[Instruction]) -> io::Result<Self> {
        let socket = Socket::new(Domain::PACKET, Type::RAW, None)?;
        let fd = socket.as_fd();
        let program = Filter {
            length: u16::try_from(filter.len()).map_err(|_| io::ErrorKind::InvalidInput)?,
            first: filter.as_ptr(),
        };
        set(fd, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)?;
        // Older kernels hand out what leaves too; the reader decides by the port.
        set(fd, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &1_i32).ok();
        Self::map(socket, interface, BLOCKS, RETIRE_MS)
    }

    /// Every frame that comes to an interface or leaves it. Needs CAP_NET_RAW.
    #[inline]
    pub fn both_ways(interface: u32) -> io::Result<Self> {
        let socket = Socket::new(Domain::PACKET, Type::RAW, None)?;
        Self::map(socket, interface, BLOCKS_OF_BOTH, RETIRE_LATER_MS)
    }

    fn map(socket: Socket, interface: u32, blocks: usize, retire_ms: u32) -> io::Result<Self> {
        let fd = socket.as_fd();
        set(fd, libc::SOL_PACKET, PACKET_VERSION, &TPACKET_V3)?;
        let request = Request {
            block_size: BLOCK as u32,
            block_count: blocks as u32,
            frame_size: 2048,
            frame_count: (BLOCK / 2048 * blocks) as u32,
            retire_ms,
            private: 0,
            features: 0,
        };
        set(fd, libc::SOL_PACKET, PACKET_RX_RING, &request)?;
        let ring = Self {
            memory: Mapping::of_socket(&socket, BLOCK * blocks)?,
            socket,
            blocks,
            next: 0,
        };
        let every = libc::ETH_P_ALL as u16;
        ring.socket.bind(&link_address(interface, every)?)?;
        Ok(ring)
    }

    #[inline]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Hands out the frames of the next block, if the kernel has finished it; else false.
    pub fn block(&mut self, mut each: impl FnMut(Frame<'_>)) -> bool {
        // SAFETY: inside the mapping.
        let start = unsafe { self.memory.start.add(self.next * BLOCK) };
        // SAFETY: inside the mapping; the status is a word that both sides change as a whole.
        let status = unsafe { &*start.add(8).cast::<AtomicU32>() };
        if status.load(Ordering::Acquire) & STATUS_USER == 0 {
            return false;
        }
        // SAFETY: the block is ours until its status is given back, and inside the mapping.
        let block = unsafe { std::slice::from_raw_parts(start, BLOCK) };
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
            let lies = (block.get(at + link..end), block.get(at + network..end));
            if let (Some(link), Some(network)) = lies {
                each(Frame {
                    stamp_ns,
                    link,
                    network,
                    length: word(at + 16) as u32,
                });
            }
            match word(at) {
                0 => break,
                step => at += step,
            }
        }
        fence(Ordering::SeqCst);
        status.store(0, Ordering::Release);
        self.next = (self.next + 1) % self.blocks;
        true
    }

    /// Frames that found no room since this or `counted` was asked last.
    #[inline]
    pub fn dropped(&self) -> io::Result<u32> {
        self.counted().map(|counted| counted.dropped)
    }

    /// What was seen and dropped since this or `dropped` was asked last.
    pub fn counted(&self) -> io::Result<Counted> {
        // struct tpacket_stats_v3: packets, drops, freezes.
        let mut counts = [0_u32; 3];
        get(
            self.socket.as_fd(),
            libc::SOL_PACKET,
            PACKET_STATISTICS,
            &mut counts,
        )?;
        let [seen, dropped, _] = counts;
        Ok(Counted { seen, dropped })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poll::{wait, Ready};
    use std::net::UdpSocket;
    use std::time::Duration;

    fn loopback() -> u32 {
        let list = crate::interface::list().unwrap();
        list.into_iter().find(|(_, name)| name == "lo").unwrap().0
    }

    #[test]
    fn what_is_sent_comes_by_in_both_directions() {
        let Ok(mut ring) = Ring::both_ways(loopback()) else {
            eprintln!("skipped: packet sockets need CAP_NET_RAW");
            return;
        };
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mark = b"a frame of the ring's test, sent once";
        socket.send_to(mark, socket.local_addr().unwrap()).unwrap();
        let mut found = Vec::new();
        for _ in 0..50 {
            wait(ring.descriptor(), Ready::Read, Duration::from_millis(20)).unwrap();
            while ring.block(|frame| {
                if frame.link.ends_with(mark) {
                    found.push((frame.stamp_ns, frame.length, frame.link.len()));
                }
            }) {}
            if found.len() == 2 {
                break;
            }
        }
        // Loopback: once as it goes out, once as it comes in.
        assert_eq!(found.len(), 2);
        assert!(found[1].0 >= found[0].0);
        assert_eq!(found[0].1 as usize, 14 + 20 + 8 + mark.len());
        assert_eq!(found[0].2, 14 + 20 + 8 + mark.len());
        let counted = ring.counted().unwrap();
        assert!(counted.seen >= 2 && counted.dropped == 0, "{counted:?}");
    }

    #[test]
    fn a_ring_that_is_not_emptied_counts_what_it_drops() {
        let all = Instruction {
            code: 0x06, // BPF_RET | BPF_K: how much of a frame is kept, here all of it.
            yes: 0,
            no: 0,
            value: u32::MAX,
        };
        let Ok(ring) = Ring::open(loopback(), &[all]) else {
            eprintln!("skipped: packet sockets need CAP_NET_RAW");
            return;
        };
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let own = socket.local_addr().unwrap();
        // Eight fit into a block.
        for _ in 0..BLOCKS * 9 {
            socket.send_to(&[7; 60_000], own).unwrap();
        }
        assert!(ring.counted().unwrap().dropped > 0);
    }
}
