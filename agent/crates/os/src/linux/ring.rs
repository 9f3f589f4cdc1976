//! Frames of an interface in memory shared with the kernel, each with the time at which the kernel
//! took it: PACKET_RX_RING of packet(7), version 2 (kernel documentation, packet_mmap).

use crate::mmap::Mapping;
use crate::packet::{interface, link_address};
use crate::socket::{get, set};
use socket2::{Domain, Socket, Type};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU32, Ordering};

const ETH_P_ALL: u16 = 3;
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
const BLOCK: usize = 1 << 18;
/// The kernel's header of a slot and the room before the frame, with some to spare.
const ROOM: usize = 128;

/// A frame as it came.
pub struct Frame<'a> {
    pub bytes: &'a [u8],
    /// The tag that the kernel took out of it (IEEE 802.1Q): protocol and value.
    pub tag: Option<(u16, u16)>,
    /// Bytes that it had; more than there are here if it did not fit into a slot.
    pub length: u32,
    /// CLOCK_REALTIME, ns.
    pub time_ns: u64,
    /// Its checksum was left to a device.
    pub unchecked: bool,
}

pub struct Ring {
    memory: Mapping,
    socket: Socket,
    slot: usize,
    slots: usize,
    next: usize,
}

// SAFETY: the mapping belongs to this value alone, and the kernel does not care for threads.
unsafe impl Send for Ring {}

impl Ring {
    /// Takes every frame that comes in at the interface with the index `interface`, those for
    /// other hosts too; `longest`: bytes of the longest frame; `slots`: how many frames there is
    /// room for. Needs CAP_NET_RAW.
    pub fn open(interface: u32, longest: usize, slots: usize) -> io::Result<Self> {
        // Protocol 0: nothing comes before the ring is there and the socket is bound.
        let socket = Socket::new(Domain::PACKET, Type::RAW, None)?;
        let packet = libc::SOL_PACKET;
        let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
        set(socket.as_fd(), packet, libc::PACKET_VERSION, &version)?;
        set(socket.as_fd(), packet, PACKET_IGNORE_OUTGOING, &1_i32)?;
        let slot = (longest + ROOM).next_power_of_two().clamp(2048, BLOCK);
        let blocks = (slots * slot).div_ceil(BLOCK);
        let slots = blocks * (BLOCK / slot);
        let number = |value: usize| u32::try_from(value).map_err(|_| io::ErrorKind::InvalidInput);
        let request = libc::tpacket_req {
            tp_block_size: number(BLOCK)?,
            tp_block_nr: number(blocks)?,
            tp_frame_size: number(slot)?,
            tp_frame_nr: number(slots)?,
        };
        set(socket.as_fd(), packet, libc::PACKET_RX_RING, &request)?;
        let ring = Self {
            memory: Mapping::of_socket(&socket, blocks * BLOCK)?,
            socket,
            slot,
            slots,
            next: 0,
        };
        let membership = libc::packet_mreq {
            mr_ifindex: i32::try_from(interface).map_err(|_| io::ErrorKind::InvalidInput)?,
            mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        let socket = ring.socket.as_fd();
        set(socket, packet, libc::PACKET_ADD_MEMBERSHIP, &membership)?;
        ring.socket.bind(&link_address(interface, ETH_P_ALL)?)?;
        Ok(ring)
    }

    fn status(&self) -> &AtomicU32 {
        // SAFETY: the slot lies in the mapping, begins with tp_status, and is aligned to 2048;
        // the kernel writes this word while we look at it, so it is only used as an atomic.
        unsafe {
            &*self
                .memory
                .start
                .add(self.next * self.slot)
                .cast::<AtomicU32>()
        }
    }

    /// Whether a frame is there.
    #[inline]
    pub fn ready(&self) -> bool {
        self.status().load(Ordering::Acquire) & libc::TP_STATUS_USER != 0
    }

    /// Hands the next frame to `look`, if there is one, and gives its slot back to the kernel.
    pub fn take<T>(&mut self, look: impl FnOnce(Frame<'_>) -> T) -> Option<T> {
        let status = self.status().load(Ordering::Acquire);
        if status & libc::TP_STATUS_USER == 0 {
            return None;
        }
        let slot = self.next * self.slot;
        // SAFETY: TP_STATUS_USER states that the slot is ours until its status is put back below.
        // The header lies at its start; the frame lies where the header says, which is checked to
        // be inside the slot.
        let frame = unsafe {
            let header = &*self.memory.start.add(slot).cast::<libc::tpacket2_hdr>();
            let (from, bytes) = (usize::from(header.tp_mac), header.tp_snaplen as usize);
            if from + bytes > self.slot {
                return Some(self.give_back(look, Frame::broken(header)));
            }
            Frame {
                bytes: std::slice::from_raw_parts(self.memory.start.add(slot + from), bytes),
                ..Frame::broken(header)
            }
        };
        Some(self.give_back(look, frame))
    }

    fn give_back<'a, T>(&mut self, look: impl FnOnce(Frame<'a>) -> T, frame: Frame<'a>) -> T {
        let looked = look(frame);
        self.status()
            .store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % self.slots;
        looked
    }

    /// What happened to the interface since this was last asked, such as that it was taken down; as
    /// long as nobody asks, every wait for a frame ends at once.
    #[inline]
    pub fn error(&self) -> io::Result<Option<io::Error>> {
        self.socket.take_error()
    }

    /// Whether the interface is still there; a new one of its name is another one.
    #[inline]
    pub fn bound(&self) -> io::Result<bool> {
        Ok(interface(&self.socket.local_addr()?).is_some())
    }

    /// Frames that found no slot free since this was last asked.
    pub fn lost(&self) -> io::Result<u64> {
        // struct tpacket_stats: packets, drops.
        let mut counts = [0_u32; 2];
        get(
            self.socket.as_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            &mut counts,
        )?;
        Ok(counts[1].into())
    }
}

impl Frame<'_> {
    /// What the header states, without bytes.
    fn broken(header: &libc::tpacket2_hdr) -> Self {
        let has = |flag| header.tp_status & flag != 0;
        Self {
            bytes: &[],
            tag: has(libc::TP_STATUS_VLAN_VALID)
                .then_some((header.tp_vlan_tpid, header.tp_vlan_tci)),
            length: header.tp_len,
            time_ns: u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec),
            unchecked: has(libc::TP_STATUS_CSUMNOTREADY),
        }
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
