//! Frames by rings that the kernel and this process share: the transmit backend and the receiver `afxdp`, and
//! the receiver `ring`.

use super::batch::Batch;
use super::frame::{headers_to, Template};
use super::link::Link;
use super::live::{interface_of, readers, refused};
use super::model::Model;
use super::packet::LONGEST;
use super::receive::{Receiver, PATIENCE};
use super::stamps::on_timer;
use super::tx::unsupported;
use pentathlon_os::block_ring::{Instruction, Ring};
use pentathlon_os::bpf::{Program, Targets};
use pentathlon_os::poll::{self, Ready};
use pentathlon_os::xsk::{Xsk, PLACE};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A sender that the driver does not let go on for so long has lost what it added.
const STUCK: Duration = Duration::from_millis(100);

/// Sends frames by an AF_XDP socket.
pub struct XskTx {
    xsk: Xsk,
    pub template: Template,
    /// Places in the batch up to which frames were handed over, and those the driver dropped.
    handed: usize,
    dropped: VecDeque<usize>,
}

impl XskTx {
    /// `socket` is the flow's own, connected, as for [`Link::open`].
    pub fn open(socket: &UdpSocket, size: &Model) -> io::Result<Self> {
        let link = Link::open(socket, size)?;
        let xsk = Xsk::open(link.interface, 0, true).map_err(refused("an AF_XDP socket"))?;
        Ok(Self {
            xsk,
            template: link.template,
            handed: 0,
            dropped: VecDeque::new(),
        })
    }

    /// Hands over the frames from `from` on; returns when the kernel has taken them. A frame that
    /// the driver had no room for is the error of its turn.
    pub fn send(&mut self, batch: &Batch, from: usize) -> io::Result<usize> {
        if from == 0 || from >= self.handed {
            self.hand_over(batch, from)?;
        }
        match self.dropped.front() {
            Some(&place) if place == from => {
                self.dropped.pop_front();
                Err(io::Error::from_raw_os_error(libc::ENOBUFS))
            }
            Some(&place) => Ok(place - from),
            None => Ok(self.handed - from),
        }
    }

    fn hand_over(&mut self, batch: &Batch, from: usize) -> io::Result<()> {
        self.xsk.completed();
        let first = self.xsk.next();
        let mut count = 0;
        while from + count < batch.slots().len() {
            let frame = batch.framed(from + count);
            if frame.len() > PLACE {
                return Err(unsupported(format!("AF_XDP takes frames up to {PLACE} B")));
            }
            if !self.xsk.add(frame) {
                break;
            }
            count += 1;
        }
        let start = Instant::now();
        while !self.xsk.kick()? {
            if start.elapsed() > STUCK {
                return Err(ErrorKind::TimedOut.into());
            }
        }
        self.handed = from + count;
        let refused = self.xsk.take_refused().into_iter();
        self.dropped = refused
            .map(|entry| from + entry.wrapping_sub(first) as usize)
            .collect();
        match count {
            0 => Err(ErrorKind::WouldBlock.into()),
            _ => Ok(()),
        }
    }
}

/// The flow's own socket, which holds its port, an AF_XDP socket, and the program that gives it the
/// flow's frames.
pub struct XskRx {
    pub socket: UdpSocket,
    xsk: Xsk,
    headers: usize,
    _link: OwnedFd,
}

impl XskRx {
    pub fn open(socket: UdpSocket) -> io::Result<Self> {
        let own = socket.local_addr()?;
        let (headers, address) = headers_to(own.ip());
        let interface = interface_of(own.ip())?;
        let xsk = Xsk::open(interface, 0, false).map_err(refused("an AF_XDP socket"))?;
        let sockets =
            Targets::socket(0, &xsk.descriptor()).map_err(refused("a map of AF_XDP sockets"))?;
        let code = readers::to_socket(sockets.number(), headers, &address, own.port());
        let link = Program::load(&code)
            .map_err(refused("the program for the AF_XDP socket"))?
            .attach(interface)
            .map_err(refused("a program on the interface"))?;
        Ok(Self {
            socket,
            xsk,
            headers,
            _link: link,
        })
    }
}

/// The flow's own socket, which holds its port, and the ring with copies of its frames.
pub struct FrameRing {
    pub socket: UdpSocket,
    ring: Ring,
    headers: usize,
}

impl FrameRing {
    pub fn open(socket: UdpSocket) -> io::Result<Self> {
        let own = socket.local_addr()?;
        // What the stack gives this socket is not read.
        socket2::SockRef::from(&socket).set_recv_buffer_size(0).ok();
        let interface = interface_of(own.ip())?;
        let ring = Ring::open(interface, &filter(own)).map_err(|error| match error.kind() {
            ErrorKind::PermissionDenied => unsupported(format!(
                "packet sockets need the right CAP_NET_RAW: {error}"
            )),
            _ => refused("a ring for frames")(error),
        })?;
        Ok(Self {
            socket,
            ring,
            headers: if own.is_ipv4() { 20 + 8 } else { 40 + 8 },
        })
    }
}

/// Lets pass whole datagrams of UDP to a port: `SKF_NET_OFF` is where the header of IP begins.
fn filter(own: SocketAddr) -> Vec<Instruction> {
    const LOAD_BYTE: u16 = 0x30;
    const LOAD_HALF: u16 = 0x28;
    const IF_EQUAL: u16 = 0x15;
    const IF_BITS: u16 = 0x45;
    const RETURN: u16 = 0x06;
    const NETWORK: u32 = -0x10_0000_i32 as u32;
    let port = u32::from(own.port());
    // (load, where, jump if, value): a jump that is taken must be for `IF_EQUAL` and not else.
    let tests: &[(u16, u32, u16, u32)] = if own.is_ipv4() {
        &[
            (LOAD_BYTE, 0, IF_EQUAL, 0x45),
            (LOAD_BYTE, 9, IF_EQUAL, 17),
            (LOAD_HALF, 6, IF_BITS, 0x3fff),
            (LOAD_HALF, 22, IF_EQUAL, port),
        ]
    } else {
        &[
            (LOAD_BYTE, 6, IF_EQUAL, 17),
            (LOAD_HALF, 42, IF_EQUAL, port),
        ]
    };
    let mut code = Vec::new();
    for (index, &(load, at, jump, value)) in tests.iter().enumerate() {
        // To the last instruction, which refuses.
        let away = (2 * (tests.len() - index - 1) + 1) as u8;
        let (yes, no) = if jump == IF_EQUAL {
            (0, away)
        } else {
            (away, 0)
        };
        code.push(Instruction {
            code: load,
            yes: 0,
            no: 0,
            value: NETWORK.wrapping_add(at),
        });
        code.push(Instruction {
            code: jump,
            yes,
            no,
            value,
        });
    }
    for value in [u32::MAX, 0] {
        code.push(Instruction {
            code: RETURN,
            yes: 0,
            no: 0,
            value,
        });
    }
    code
}

impl Receiver {
    /// Receives until `over`. Each packet has the kernel's own time of arrival.
    pub(super) fn ring(
        &mut self,
        spinning: bool,
        mut rx: FrameRing,
        over: &AtomicBool,
    ) -> io::Result<()> {
        let (headers, own) = (rx.headers, rx.socket.local_addr()?.ip());
        loop {
            let last = over.load(Ordering::Acquire);
            let timer = self.timer;
            let mut unplaced = 0;
            while rx.ring.block(|frame| {
                if destination(frame.network, own) != Some(true) {
                    return;
                }
                let Some(payload) = payload(frame.network, headers) else {
                    return;
                };
                match on_timer(&timer, frame.stamp_ns) {
                    Some(time) => {
                        self.take(time, payload);
                    }
                    None => unplaced += 1,
                }
            }) {}
            // Packets whose time is unknown, because the clock was set.
            self.lose(unplaced);
            if last {
                let dropped = rx.ring.dropped()?;
                self.lose(dropped.into());
                return Ok(());
            }
            rest(rx.ring.descriptor(), spinning)?;
        }
    }

    /// Receives until `over`. The frames that are there together share a time of arrival.
    pub(super) fn xsk(
        &mut self,
        spinning: bool,
        mut rx: XskRx,
        over: &AtomicBool,
    ) -> io::Result<()> {
        rx.socket.set_nonblocking(true)?;
        let headers = rx.headers - 14;
        let mut passed = vec![0; LONGEST + 1];
        loop {
            let last = over.load(Ordering::Acquire);
            let now = self.timer.now_ns();
            let came = rx.xsk.receive(|frame| {
                let payload = frame.get(14..).and_then(|ip| payload(ip, headers));
                self.take(now, payload.unwrap_or_default());
            });
            // What came by another queue went to the stack.
            self.take_passed(&rx.socket, &mut passed)?;
            if last {
                let dropped = rx.xsk.dropped()?;
                self.lose(dropped);
                return Ok(());
            }
            if came == 0 {
                rest(rx.xsk.descriptor(), spinning)?;
            }
        }
    }
}

fn rest(descriptor: BorrowedFd<'_>, spinning: bool) -> io::Result<()> {
    if spinning {
        std::hint::spin_loop();
        return Ok(());
    }
    poll::wait(descriptor, Ready::Read, PATIENCE).map(|_| ())
}

/// Whether a packet goes to an address; none if it is too short to decide.
fn destination(network: &[u8], own: IpAddr) -> Option<bool> {
    Some(match own {
        IpAddr::V4(own) => network.get(16..20)? == own.octets(),
        IpAddr::V6(own) => network.get(24..40)? == own.octets(),
    })
}

/// What a datagram of UDP carries, as long as its own header says; `headers`: those of IP and UDP.
fn payload(network: &[u8], headers: usize) -> Option<&[u8]> {
    let length = network.get(headers - 4..headers - 2)?;
    let length = usize::from(u16::from_be_bytes(length.try_into().ok()?)).checked_sub(8)?;
    network.get(headers..headers + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plain interpreter of the filter, over a packet from its header of IP on.
    fn passes(code: &[Instruction], network: &[u8]) -> bool {
        let (mut at, mut held) = (0, 0);
        loop {
            let step = code[at];
            let place = step.value.wrapping_add(0x10_0000) as usize;
            at += 1;
            match step.code {
                0x30 => held = u32::from(network[place]),
                0x28 => held = u32::from(u16::from_be_bytes([network[place], network[place + 1]])),
                0x15 => {
                    at += usize::from(if held == step.value {
                        step.yes
                    } else {
                        step.no
                    })
                }
                0x45 => {
                    at += usize::from(if held & step.value != 0 {
                        step.yes
                    } else {
                        step.no
                    })
                }
                0x06 => return step.value != 0,
                other => panic!("instruction {other:#x}"),
            }
        }
    }

    #[test]
    fn the_filter_lets_pass_whole_datagrams_to_the_port() {
        let code = filter("198.18.0.2:5000".parse().unwrap());
        let mut packet = vec![0; 28];
        packet[0] = 0x45;
        packet[6] = 0x40;
        packet[9] = 17;
        packet[22..24].copy_from_slice(&5000_u16.to_be_bytes());
        assert!(passes(&code, &packet));
        for (at, value) in [(0, 0x46), (9, 6), (6, 0x20), (7, 1), (23, 0)] {
            let mut other = packet.clone();
            other[at] = value;
            assert!(!passes(&code, &other), "byte {at}");
        }
        let code = filter("[2001:db8::2]:5000".parse().unwrap());
        let mut packet = vec![0; 48];
        packet[6] = 17;
        packet[42..44].copy_from_slice(&5000_u16.to_be_bytes());
        assert!(passes(&code, &packet));
        packet[43] = 0;
        assert!(!passes(&code, &packet));
    }

    #[test]
    fn a_payload_is_as_long_as_udp_states() {
        let mut network = vec![0; 28 + 20];
        network[24..26].copy_from_slice(&(8 + 12_u16).to_be_bytes());
        assert_eq!(payload(&network, 28).unwrap().len(), 12);
        network[24..26].copy_from_slice(&100_u16.to_be_bytes());
        assert_eq!(payload(&network, 28), None);
        assert_eq!(payload(&network[..20], 28), None);
    }
}
