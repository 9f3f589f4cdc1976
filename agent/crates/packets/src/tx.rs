//! Where a sender's packets go: an ordinary socket, or a lower layer of the system.

#[cfg(target_os = "linux")]
use super::batch;
use super::batch::Batch;
use super::echoes::Echoes;
use super::flow::{Protocol, SendFlow, TransmitBackend};
use super::icmp;
#[cfg(target_os = "linux")]
use super::link::{self, Link};
#[cfg(target_os = "linux")]
use super::live::LiveTx;
#[cfg(target_os = "linux")]
use super::pktgen::PktgenTx;
#[cfg(target_os = "linux")]
use super::rings::XskTx;
use super::transport;
use std::io::{self, ErrorKind, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

/// How long a connection may take: a few lost packets of its handshake, which are sent again after
/// 1, 3, 7 and 15 seconds. Systems wait for two minutes.
const CONNECTING: Duration = Duration::from_secs(30);

/// A connected way to the receiver.
pub enum Tx {
    Datagram(UdpSocket),
    Stream(TcpStream),
    /// A connection that takes one datagram a call and may lose it.
    Datagrams(TcpStream),
    Requests(icmp::Requests),
    #[cfg(target_os = "linux")]
    Many(UdpSocket),
    #[cfg(target_os = "linux")]
    Frames(UdpSocket, Link),
    /// With the packets that one call takes.
    #[cfg(target_os = "linux")]
    Segmented(UdpSocket, usize),
    #[cfg(target_os = "linux")]
    Xsk(UdpSocket, XskTx),
    #[cfg(target_os = "linux")]
    Live(LiveTx),
    #[cfg(target_os = "linux")]
    Pktgen(PktgenTx),
}

impl Tx {
    /// Connects to the receiver. An error of the kind `Unsupported` states what the system lacks.
    pub fn open(flow: &SendFlow) -> io::Result<Self> {
        if flow.protocol != Protocol::Udp && flow.transmit_backend != TransmitBackend::Send {
            return Err(unsupported(format!(
                "{} is sent by the transmit backend 'send' only: the others take datagrams of UDP",
                flow.protocol.name()
            )));
        }
        if let Some(reason) = flow.too_short() {
            return Err(unsupported(reason));
        }
        if flow.peer.is_multicast()
            && !matches!(
                flow.transmit_backend,
                TransmitBackend::Send | TransmitBackend::Sendmmsg
            )
        {
            return Err(unsupported("this transmit backend sends to no group"));
        }
        if flow.protocol == Protocol::Icmp {
            let requests = icmp::Requests::open(flow.peer, flow.flow as u16)?;
            return Ok(Self::Requests(requests));
        }
        let socket = connect(flow)?;
        transport::send_at_once(flow.protocol, &socket)?;
        match (flow.protocol, flow.transmit_backend) {
            (Protocol::Dccp, _) => Ok(Self::Datagrams(socket.into())),
            (Protocol::Tcp | Protocol::Sctp | Protocol::Icmp, _) => Ok(Self::Stream(socket.into())),
            (Protocol::Udp, TransmitBackend::Send) => Ok(Self::Datagram(socket.into())),
            #[cfg(target_os = "linux")]
            (Protocol::Udp, TransmitBackend::Sendmmsg) => Ok(Self::Many(socket.into())),
            #[cfg(target_os = "linux")]
            (Protocol::Udp, TransmitBackend::Gso) => {
                let socket = socket.into();
                let most = link::segment(&socket, flow)?;
                Ok(Self::Segmented(socket, most))
            }
            #[cfg(target_os = "linux")]
            (Protocol::Udp, TransmitBackend::Packet) => {
                let socket = socket.into();
                let link = Link::open(&socket, &flow.size)?;
                if let Some(bytes) = flow.buffer_bytes {
                    link.socket.socket.set_send_buffer_size(bytes)?;
                }
                Ok(Self::Frames(socket, link))
            }
            #[cfg(target_os = "linux")]
            (Protocol::Udp, TransmitBackend::Afxdp) => {
                let socket = socket.into();
                let tx = XskTx::open(&socket, &flow.size)?;
                Ok(Self::Xsk(socket, tx))
            }
            #[cfg(target_os = "linux")]
            (Protocol::Udp, TransmitBackend::Live) => {
                Ok(Self::Live(LiveTx::open(socket.into(), flow)?))
            }
            #[cfg(target_os = "linux")]
            (Protocol::Udp, TransmitBackend::Pktgen) => {
                Ok(Self::Pktgen(PktgenTx::open(socket.into(), flow)?))
            }
            #[cfg(not(target_os = "linux"))]
            (Protocol::Udp, _) => Err(unsupported("this transmit backend needs Linux")),
        }
    }

    /// The socket of the flow, to read echoes from.
    pub fn echoes(&self) -> io::Result<Echoes> {
        Ok(match self {
            Self::Datagram(socket) => Echoes::Datagram(socket.try_clone()?),
            Self::Stream(stream) | Self::Datagrams(stream) => Echoes::Stream(stream.try_clone()?),
            Self::Requests(requests) => Echoes::Replies(requests.try_clone()?),
            #[cfg(target_os = "linux")]
            Self::Many(socket)
            | Self::Segmented(socket, _)
            | Self::Frames(socket, _)
            | Self::Xsk(socket, _) => Echoes::Datagram(socket.try_clone()?),
            #[cfg(target_os = "linux")]
            Self::Live(live) => Echoes::Datagram(live.socket.try_clone()?),
            #[cfg(target_os = "linux")]
            Self::Pktgen(_) => {
                return Err(unsupported("the transmit backend 'pktgen' hears no echoes"))
            }
        })
    }

    /// The CPU that does nothing but send the flow, and the others; none where any may.
    pub fn cpus(&self) -> Option<(&[usize], &[usize])> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Live(live) if !live.cpus.own.is_empty() => {
                Some((&live.cpus.own, &live.cpus.others))
            }
            _ => None,
        }
    }

    /// Packets that are handed over together, at most.
    pub fn most(&self) -> usize {
        match self {
            Self::Datagram(_) | Self::Stream(_) | Self::Datagrams(_) | Self::Requests(_) => 1,
            #[cfg(target_os = "linux")]
            Self::Segmented(_, most) => *most,
            #[cfg(target_os = "linux")]
            Self::Many(_) | Self::Frames(..) | Self::Xsk(..) | Self::Live(_) | Self::Pktgen(_) => {
                batch::MOST
            }
        }
    }

    /// Bytes in front of each packet that the tx writes itself.
    pub fn headroom(&self) -> usize {
        match self {
            #[cfg(target_os = "linux")]
            Self::Frames(_, link) => link.template.headers(),
            #[cfg(target_os = "linux")]
            Self::Xsk(_, xsk) => xsk.template.headers(),
            Self::Requests(_) => icmp::HEADER,
            _ => 0,
        }
    }

    /// Finishes a batch whose packets have their own headers.
    #[inline]
    pub fn prepare(&self, batch: &mut Batch) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Frames(_, link) => {
                for index in 0..batch.slots().len() {
                    link.template.write(batch.frame(index));
                }
            }
            #[cfg(target_os = "linux")]
            Self::Xsk(_, xsk) => {
                for index in 0..batch.slots().len() {
                    xsk.template.write(batch.frame(index));
                }
            }
            Self::Requests(requests) => requests.prepare(batch),
            _ => {}
        }
    }

    /// Hands over the packets from `from` on; how many of them the system took, at least one. The
    /// error is that of the first.
    #[inline]
    pub fn send(&mut self, batch: &Batch, from: usize) -> io::Result<usize> {
        match self {
            Self::Datagram(socket) => socket.send(batch.packet(from)).map(|_| 1),
            Self::Stream(stream) => stream.write_all(batch.packet(from)).map(|()| 1),
            Self::Datagrams(stream) => stream.write(batch.packet(from)).map(|_| 1),
            Self::Requests(requests) => requests.socket.send(batch.framed(from)).map(|_| 1),
            #[cfg(target_os = "linux")]
            Self::Xsk(_, xsk) => xsk.send(batch, from),
            #[cfg(target_os = "linux")]
            Self::Many(socket) => {
                let left = batch.slots().len() - from;
                pentathlon_os::mmsg::send(std::os::fd::AsFd::as_fd(socket), left, |index| {
                    batch.packet(from + index)
                })
            }
            // The kernel runs a program of this transmit backend; it does not come here.
            #[cfg(target_os = "linux")]
            Self::Live(_) | Self::Pktgen(_) => Err(unsupported("the kernel sends these packets")),
            #[cfg(target_os = "linux")]
            Self::Segmented(socket, _) => {
                let all = batch.slots().len();
                socket.send(batch.together(from, all)).map(|_| all - from)
            }
            #[cfg(target_os = "linux")]
            Self::Frames(_, link) => {
                let left = batch.slots().len() - from;
                pentathlon_os::mmsg::send(
                    std::os::fd::AsFd::as_fd(&link.socket.socket),
                    left,
                    |index| batch.framed(from + index),
                )
            }
        }
    }

    /// Whether the packets of a batch must lie together.
    pub fn is_segmented(&self) -> bool {
        match self {
            #[cfg(target_os = "linux")]
            Self::Segmented(..) => true,
            _ => false,
        }
    }

    /// The socket whose datagrams the kernel can stamp: one call, one datagram.
    #[cfg(target_os = "linux")]
    pub fn stamped(&self) -> Option<&UdpSocket> {
        match self {
            Self::Datagram(socket) | Self::Many(socket) => Some(socket),
            _ => None,
        }
    }

    /// Bytes that a connection of TCP has sent, and those of them that it sent again.
    pub fn on_the_wire(&self) -> Option<(u64, u64)> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Stream(stream) => {
                pentathlon_os::socket::sent_and_again(std::os::fd::AsFd::as_fd(stream))
            }
            _ => None,
        }
    }

    pub fn is_stream(&self) -> bool {
        matches!(self, Self::Stream(_))
    }
}

/// The flow's socket, connected.
fn connect(flow: &SendFlow) -> io::Result<socket2::Socket> {
    let peer = SocketAddr::new(flow.peer, flow.port);
    let socket = transport::socket(flow.protocol, peer)?;
    if let Some(bytes) = flow.buffer_bytes {
        socket.set_send_buffer_size(bytes)?;
    }
    if flow.peer.is_multicast() {
        let own = flow.source.ok_or_else(|| {
            io::Error::other("a flow to a group needs this host's own address as its 'source'")
        })?;
        transport::send_to_group(&socket, own)?;
        socket.connect(&peer.into()).map_err(transport::no_way)?;
        return Ok(socket);
    }
    let connected = match flow.protocol {
        Protocol::Udp | Protocol::Icmp => socket.connect(&peer.into()),
        _ => socket.connect_timeout(&peer.into(), CONNECTING),
    };
    connected.map_err(|e| refused(e, flow))?;
    Ok(socket)
}

/// Says why some kernels' SCTP takes no address that the hosts of a pair have.
fn refused(error: io::Error, flow: &SendFlow) -> io::Error {
    let benchmark = matches!(flow.peer, IpAddr::V4(to) if to.octets()[0] == 198
        && to.octets()[1] & 0xfe == 18);
    if flow.protocol == Protocol::Sctp && benchmark && error.kind() == ErrorKind::InvalidInput {
        return unsupported(format!(
            "this kernel's SCTP takes no addresses for benchmarks (198.18.0.0/15), as that of \
             Linux 5.10; it takes those of IPv6: {error}"
        ));
    }
    error
}

/// What the system, or the way to the receiver, cannot do.
pub fn unsupported(reason: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::Unsupported, reason.into())
}
