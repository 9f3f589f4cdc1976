//! AF_XDP sockets (kernel documentation, networking/af_xdp): frames in memory that kernel and
//! process share, handed over by rings of descriptors. Frames are copied between this memory and the
//! driver's (`XDP_COPY`), which works with every driver.

use crate::mmap::{Mapping, READ_AND_WRITE};
use crate::socket::set;
use rustix::net::xdp::{
    SocketAddrXdp, SocketAddrXdpFlags, XdpRingOffset, XDP_PGOFF_RX_RING, XDP_PGOFF_TX_RING,
    XDP_UMEM_PGOFF_COMPLETION_RING, XDP_UMEM_PGOFF_FILL_RING,
};
use rustix::net::{bind, socket_with, sockopt, AddressFamily, SocketFlags, SocketType};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};

const SOL_XDP: libc::c_int = 283;
const XDP_UMEM_REG: libc::c_int = 4;

/// Bytes of a frame's place, and places; entries of each ring.
pub const PLACE: usize = 2048;
const PLACES: usize = 4096;
const ENTRIES: usize = 4096;

/// One ring: counters of both sides and entries.
struct Queue {
    memory: Mapping,
    producer: usize,
    consumer: usize,
    entries: usize,
}

impl Queue {
    /// # Safety
    /// `offsets` are those that the kernel gave for the ring at `page`, whose entries are `width`
    /// bytes long.
    unsafe fn map(
        socket: RawFd,
        page: u64,
        offsets: XdpRingOffset,
        width: usize,
    ) -> io::Result<Self> {
        let entries = offsets.desc as usize;
        let length = entries + ENTRIES * width;
        let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
        Ok(Self {
            memory: Mapping::new(length, READ_AND_WRITE, flags, socket, page)?,
            producer: offsets.producer as usize,
            consumer: offsets.consumer as usize,
            entries,
        })
    }

    fn counter(&self, at: usize) -> &AtomicU32 {
        // SAFETY: the kernel said that an aligned counter lies there, inside the mapping.
        unsafe { &*self.memory.start.add(at).cast::<AtomicU32>() }
    }

    fn produced(&self) -> u32 {
        self.counter(self.producer).load(Ordering::Acquire)
    }

    fn consumed(&self) -> u32 {
        self.counter(self.consumer).load(Ordering::Acquire)
    }

    fn entry<T>(&self, number: u32) -> *mut T {
        let place = number as usize % ENTRIES * size_of::<T>();
        // SAFETY: within the entries, which are of this width.
        unsafe { self.memory.start.add(self.entries + place).cast() }
    }
}

/// `struct xdp_desc`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Descriptor {
    address: u64,
    length: u32,
    options: u32,
}

/// `struct xdp_umem_reg` as the first kernels with AF_XDP have it.
#[repr(C)]
#[derive(Clone, Copy)]
struct Memory {
    address: u64,
    length: u64,
    place: u32,
    headroom: u32,
}

/// A socket for one queue of an interface, that either sends or receives.
pub struct Xsk {
    frames: Mapping,
    descriptor: OwnedFd,
    /// To hand over frames, and to take frames.
    out: Queue,
    back: Queue,
    free: Vec<u64>,
    sends: bool,
    /// Entries that the kernel has dealt with, which it reports late.
    taken: u32,
    /// Entries whose frames the driver had no room for.
    refused: Vec<u32>,
}

// SAFETY: the memory is used by one owner, which may be any thread.
unsafe impl Send for Xsk {}

impl Xsk {
    /// Needs CAP_NET_RAW, and room for locked memory.
    pub fn open(interface: u32, queue: u32, sends: bool) -> io::Result<Self> {
        let (kind, flags) = (SocketType::RAW, SocketFlags::CLOEXEC);
        let descriptor = socket_with(AddressFamily::XDP, kind, flags, None)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE;
        let frames = Mapping::new(PLACE * PLACES, READ_AND_WRITE, flags, -1, 0)?;
        let (out, back) = Self::rings(&descriptor, frames.start, sends)?;
        let mut socket = Self {
            frames,
            descriptor,
            out,
            back,
            free: (0..PLACES as u64).map(|n| n * PLACE as u64).collect(),
            sends,
            taken: 0,
            refused: Vec::new(),
        };
        if !sends {
            socket.give_back();
        }
        let address = SocketAddrXdp::new(SocketAddrXdpFlags::XDP_COPY, interface, queue);
        bind(&socket.descriptor, &address)?;
        Ok(socket)
    }

    fn rings(descriptor: &OwnedFd, frames: *mut u8, sends: bool) -> io::Result<(Queue, Queue)> {
        let fd = descriptor.as_fd();
        let memory = Memory {
            address: frames as u64,
            length: (PLACE * PLACES) as u64,
            place: PLACE as u32,
            headroom: 0,
        };
        set(fd, SOL_XDP, XDP_UMEM_REG, &memory)?;
        let entries = ENTRIES as u32;
        sockopt::set_xdp_umem_fill_ring_size(fd, entries)?;
        sockopt::set_xdp_umem_completion_ring_size(fd, entries)?;
        if sends {
            sockopt::set_xdp_tx_ring_size(fd, entries)?;
        } else {
            sockopt::set_xdp_rx_ring_size(fd, entries)?;
        }
        let offsets = sockopt::xdp_mmap_offsets(fd)?;
        let of = |page: u64, offsets: XdpRingOffset, width: usize| {
            // SAFETY: offsets and page are those of one ring; addresses have 8 bytes, descriptors 16.
            unsafe { Queue::map(fd.as_raw_fd(), page, offsets, width) }
        };
        let width = size_of::<Descriptor>();
        // Sent: the own ring and completions. Received: free places and the own ring.
        Ok(if sends {
            (
                of(XDP_PGOFF_TX_RING, offsets.tx, width)?,
                of(XDP_UMEM_PGOFF_COMPLETION_RING, offsets.cr, 8)?,
            )
        } else {
            (
                of(XDP_UMEM_PGOFF_FILL_RING, offsets.fr, 8)?,
                of(XDP_PGOFF_RX_RING, offsets.rx, width)?,
            )
        })
    }

    #[inline]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// Takes a frame to send, copied; false if there is no room.
    ///
    /// # Panics
    /// If the frame is longer than a place.
    #[inline]
    pub fn add(&mut self, frame: &[u8]) -> bool {
        assert!(self.sends && frame.len() <= PLACE);
        if self.free.is_empty() {
            self.completed();
        }
        let number = self.out.produced();
        if number.wrapping_sub(self.out.consumed()) as usize >= ENTRIES {
            return false;
        }
        let Some(address) = self.free.pop() else {
            return false;
        };
        let descriptor = Descriptor {
            address,
            length: frame.len() as u32,
            options: 0,
        };
        // SAFETY: the place is inside the frames, long enough, and nobody's until it is handed
        // over; the entry is free.
        unsafe {
            let place = self.frames.start.add(address as usize);
            std::ptr::copy_nonoverlapping(frame.as_ptr(), place, frame.len());
            self.out.entry::<Descriptor>(number).write(descriptor);
        }
        let produced = self.out.counter(self.out.producer);
        produced.store(number.wrapping_add(1), Ordering::Release);
        true
    }

    /// The number of the entry that the next frame gets.
    #[inline]
    pub fn next(&self) -> u32 {
        self.out.produced()
    }

    /// The entries whose frames the driver had no room for, since this was last asked.
    #[inline]
    pub fn take_refused(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.refused)
    }

    /// Lets the kernel send what was added, once; whether it has taken all.
    pub fn kick(&mut self) -> io::Result<bool> {
        // SAFETY: nothing is pointed at.
        let done = unsafe {
            libc::sendto(
                self.descriptor.as_raw_fd(),
                std::ptr::null(),
                0,
                libc::MSG_DONTWAIT,
                std::ptr::null(),
                0,
            )
        };
        let code = match done {
            0.. => None,
            _ => io::Error::last_os_error().raw_os_error(),
        };
        // The kernel reports how far it is only after a call that sent something.
        let reported = self.out.consumed();
        let sent_some =
            reported.wrapping_sub(self.taken) as usize <= ENTRIES && reported != self.taken;
        if sent_some {
            self.taken = reported;
        }
        match code {
            None => {}
            // The call ends with a frame that the driver dropped.
            Some(libc::EBUSY) => {
                if !sent_some {
                    self.taken = self.taken.wrapping_add(1);
                }
                self.refused.push(self.taken.wrapping_sub(1));
            }
            // The kernel takes some at a time, and waits for the driver.
            Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR) => {}
            Some(code) => return Err(io::Error::from_raw_os_error(code)),
        }
        Ok(reported == self.out.produced())
    }

    /// Takes back the places of frames that were sent.
    #[inline]
    pub fn completed(&mut self) {
        let (mut number, until) = (self.back.consumed(), self.back.produced());
        while number != until {
            // SAFETY: the kernel has written the entry.
            self.free
                .push(unsafe { self.back.entry::<u64>(number).read() });
            number = number.wrapping_add(1);
        }
        self.back
            .counter(self.back.consumer)
            .store(number, Ordering::Release);
    }

    /// Hands out the frames that have come; how many.
    pub fn receive(&mut self, mut each: impl FnMut(&[u8])) -> usize {
        let (mut number, until) = (self.back.consumed(), self.back.produced());
        let mut came = 0;
        while number != until {
            // SAFETY: the kernel has written the entry, and the frame that it names lies inside the
            // frames and is ours until its place is given back.
            unsafe {
                let entry = self.back.entry::<Descriptor>(number).read();
                let (start, length) = (entry.address as usize, entry.length as usize);
                if start + length <= PLACE * PLACES {
                    each(std::slice::from_raw_parts(
                        self.frames.start.add(start),
                        length,
                    ));
                }
                self.free.push(entry.address / PLACE as u64 * PLACE as u64);
            }
            number = number.wrapping_add(1);
            came += 1;
        }
        self.back
            .counter(self.back.consumer)
            .store(number, Ordering::Release);
        self.give_back();
        came
    }

    /// Gives free places to the kernel.
    fn give_back(&mut self) {
        let mut number = self.out.produced();
        let room = ENTRIES - number.wrapping_sub(self.out.consumed()) as usize;
        for _ in 0..room {
            let Some(address) = self.free.pop() else {
                break;
            };
            // SAFETY: the entry is free.
            unsafe { self.out.entry::<u64>(number).write(address) };
            number = number.wrapping_add(1);
        }
        self.out
            .counter(self.out.producer)
            .store(number, Ordering::Release);
    }

    /// Frames that came and found no place.
    pub fn dropped(&self) -> io::Result<u64> {
        let counts = sockopt::xdp_statistics(&self.descriptor)?;
        Ok(counts.rx_dropped + counts.rx_ring_full.unwrap_or(0))
    }
}
