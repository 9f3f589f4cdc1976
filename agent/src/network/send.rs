//! The sender of one flow: open-loop. A packet is due when its schedule says so, whatever became
//! of those before it; one that is late is sent at once, and its lateness is written down.

use super::flow::{Protocol, SendFlow};
use super::model::{Sampler, Schedule};
use super::packet::{Header, Id, Kind, HEADER, LONGEST};
use super::receive::Echoes;
use super::records::Recorder;
use super::Timer;
use serde::Serialize;
use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};

/// What a sender did, in counts; the records hold the rest.
#[derive(Debug, Default, Clone, Serialize)]
pub struct Sent {
    pub packets: u64,
    /// Bytes of payload.
    pub bytes: u64,
    /// Packets that the system refused (no buffer, connection refused); they were not sent again.
    pub refused: u64,
    pub first_ns: u64,
    pub last_ns: u64,
    pub worst_late_ns: u64,
    /// Records that were lost because their writer was behind.
    pub lost_records: u64,
    /// Why the flow ended before its time, if it did.
    pub broken: Option<String>,
}

/// Where packets go: a connected socket.
pub enum Outlet {
    Datagram(UdpSocket),
    Stream(TcpStream),
}

impl Outlet {
    /// Connects to the receiver.
    pub fn open(flow: &SendFlow) -> io::Result<Self> {
        let peer = SocketAddr::new(flow.peer, flow.port);
        let domain = socket2::Domain::for_address(peer);
        let kind = match flow.protocol {
            Protocol::Udp => socket2::Type::DGRAM,
            Protocol::Tcp => socket2::Type::STREAM,
        };
        let socket = socket2::Socket::new(domain, kind, None)?;
        if let Some(bytes) = flow.buffer_bytes {
            socket.set_send_buffer_size(bytes)?;
        }
        socket.connect(&peer.into())?;
        Ok(match flow.protocol {
            Protocol::Udp => Self::Datagram(socket.into()),
            Protocol::Tcp => {
                // A message is due when it is due: it does not wait for the next one to fill a
                // segment (RFC 896).
                socket.set_tcp_nodelay(true)?;
                Self::Stream(socket.into())
            }
        })
    }

    /// The same socket, to read echoes from.
    pub fn echoes(&self) -> io::Result<Echoes> {
        Ok(match self {
            Self::Datagram(socket) => Echoes::Datagram(socket.try_clone()?),
            Self::Stream(stream) => Echoes::Stream(stream.try_clone()?),
        })
    }

    #[inline]
    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        match self {
            Self::Datagram(socket) => socket.send(packet).map(|_| ()),
            Self::Stream(stream) => stream.write_all(packet),
        }
    }

    fn is_stream(&self) -> bool {
        matches!(self, Self::Stream(_))
    }
}

/// Sends one flow from `start_ns` on.
pub fn run(
    flow: &SendFlow,
    session: u64,
    seed: u64,
    start_ns: u64,
    timer: &Timer,
    outlet: &mut Outlet,
    mut recorder: Recorder,
) -> Result<Sent, String> {
    let mut schedule = Schedule::new(&flow.gap, seed, flow.flow)?;
    let mut sizes = Sampler::new(&flow.size, seed, u64::from(flow.flow) << 8)?;
    let id = Id::new(session, flow.flow);
    let end_ns = start_ns + (flow.duration_s * 1e9) as u64;
    let most = flow.packets.unwrap_or(u64::MAX);
    let mut packet = vec![0_u8; LONGEST];
    let mut random = Sampler::new(
        &super::model::Model::Uniform {
            minimum: 0.0,
            maximum: 255.0,
        },
        seed,
        u64::from(flow.flow) << 8 | 9,
    )?;
    packet.fill_with(|| random.draw() as u8);
    let mut sent = Sent::default();
    timer.wait_until(start_ns);
    let mut sequence = 0;
    while sequence < most {
        let due = start_ns + schedule.next_ns();
        let length = (sizes.draw().round() as usize).clamp(HEADER, LONGEST);
        let due = if schedule.unpaced() {
            timer.now_ns()
        } else {
            due
        };
        if due >= end_ns {
            break;
        }
        let now = timer.wait_until(due);
        // A generator that falls behind for good ends at the planned time, not much later: what
        // was not sent by then shows as missing packets.
        if now >= end_ns {
            break;
        }
        let late_ns = u32::try_from(now - due).unwrap_or(u32::MAX);
        Header {
            id,
            sequence,
            intended_ns: due,
            late_ns,
            length: length as u16,
            kind: Kind::Data,
        }
        .write(&mut packet);
        let outcome = outlet.send(&packet[..length]);
        let code = match &outcome {
            Ok(()) => 0,
            Err(error) => error.raw_os_error().unwrap_or(-1).unsigned_abs() as u16,
        };
        recorder.record(sequence, due, late_ns, length as u16, code);
        if sequence == 0 {
            sent.first_ns = now;
        }
        sent.last_ns = now;
        sent.worst_late_ns = sent.worst_late_ns.max(now - due);
        sequence += 1;
        match outcome {
            Ok(()) => {
                sent.packets += 1;
                sent.bytes += length as u64;
            }
            Err(error) if outlet.is_stream() => {
                sent.refused += 1;
                sent.broken = Some(format!("the connection broke: {error}"));
                break;
            }
            // A datagram that the system has no room for is lost, as it would be in the network.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::ConnectionRefused | ErrorKind::WouldBlock | ErrorKind::OutOfMemory
                ) || error.raw_os_error() == Some(libc::ENOBUFS) =>
            {
                sent.refused += 1;
            }
            Err(error) => {
                sent.refused += 1;
                sent.broken = Some(format!("a packet of {length} B could not be sent: {error}"));
                break;
            }
        }
    }
    sent.lost_records = recorder.finish();
    Ok(sent)
}
