//! Where a flow's packets come in: an ordinary socket, or a lower layer of the system.

use super::flow::{Protocol, Reader, ReceiveFlow};
#[cfg(target_os = "linux")]
use super::flow::{Role, TransmitBackend};
use super::icmp;
#[cfg(target_os = "linux")]
use super::live::{open_for_frames, XdpRx};
#[cfg(target_os = "linux")]
use super::merging;
#[cfg(target_os = "linux")]
use super::packet::Id;
#[cfg(target_os = "linux")]
use super::rings::{FrameRing, XskRx};
use super::transport;
use super::tx::unsupported;
use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};

/// Where packets come in.
pub enum Rx {
    Datagram(UdpSocket),
    /// Of a protocol with connections.
    Listener(TcpListener),
    /// Echo requests; none if nobody here can hear what the kernel answers.
    Requests(Option<icmp::Listener>),
    #[cfg(target_os = "linux")]
    Program(XdpRx),
    #[cfg(target_os = "linux")]
    Ring(FrameRing),
    #[cfg(target_os = "linux")]
    Xsk(XskRx),
    /// A socket at an interface that a program lets take frames which no stack has made.
    #[cfg(target_os = "linux")]
    Frames(UdpSocket, Option<std::os::fd::OwnedFd>),
}

impl Rx {
    /// An error of the kind `Unsupported` states what the system lacks.
    pub fn open(flow: &ReceiveFlow, session: u64) -> io::Result<Self> {
        if flow.protocol != Protocol::Udp && flow.reader != Reader::Recv {
            return Err(unsupported(format!(
                "{} is read by the reader 'recv' only",
                flow.protocol.name()
            )));
        }
        if !cfg!(target_os = "linux") && flow.reader != Reader::Recv {
            return Err(unsupported("this reader needs Linux"));
        }
        if flow.protocol == Protocol::Icmp {
            let listener = icmp::Listener::open(flow.address)?;
            if let (Some(listener), Some(bytes)) = (&listener, flow.buffer_bytes) {
                set_buffer(listener.buffer(), bytes)?;
            }
            return Ok(Self::Requests(listener));
        }
        let address = SocketAddr::new(flow.address, flow.port);
        let socket = transport::socket(flow.protocol, address)?;
        if let Some(bytes) = flow.buffer_bytes {
            set_buffer(&socket, bytes)?;
        }
        match flow.group {
            Some(group) => transport::join(&socket, group, address)?,
            None => socket.bind(&address.into())?,
        }
        #[cfg(target_os = "linux")]
        if flow.protocol == Protocol::Udp {
            return Self::datagrams(flow, session, socket);
        }
        let _ = session;
        Ok(match flow.protocol {
            Protocol::Udp => Self::Datagram(socket.into()),
            _ => {
                socket.listen(128)?;
                Self::Listener(socket.into())
            }
        })
    }

    #[cfg(target_os = "linux")]
    fn datagrams(flow: &ReceiveFlow, session: u64, socket: socket2::Socket) -> io::Result<Self> {
        let id = Id::new(session, flow.heard());
        let quiet = matches!(flow.reader, Reader::Xdp | Reader::Ring | Reader::Afxdp);
        if quiet && flow.role == Role::Echo {
            return Err(unsupported("this reader sends nothing back"));
        }
        if flow.transmit_backend == TransmitBackend::Pktgen
            && (flow.role == Role::Echo || flow.reader == Reader::Xdp)
        {
            return Err(unsupported(
                "packets of the transmit backend 'pktgen' have another header: they are not sent back, and \
                 not read by the reader 'xdp'",
            ));
        }
        if flow.reader == Reader::Ring {
            if let Some(reason) = merging::reason(flow) {
                return Err(unsupported(format!(
                    "the reader 'ring' takes packets that were merged for one: {reason}"
                )));
            }
        }
        if quiet && flow.group.is_some() {
            return Err(unsupported("this reader hears no group"));
        }
        Ok(match flow.reader {
            Reader::Xdp => Self::Program(XdpRx::open(socket.into(), id)?),
            Reader::Ring => Self::Ring(FrameRing::open(socket.into())?),
            Reader::Afxdp => Self::Xsk(XskRx::open(socket.into())?),
            _ if flow.transmit_backend == TransmitBackend::Live => {
                Self::Frames(socket.into(), open_for_frames(flow.address)?)
            }
            _ => {
                if flow.stamps {
                    use std::os::fd::AsFd;
                    pentathlon_os::stamps::of_arrivals(socket.as_fd()).map_err(|e| {
                        unsupported(format!("the kernel gives no times of arrival: {e}"))
                    })?;
                }
                Self::Datagram(socket.into())
            }
        })
    }

    /// Whether somebody here writes down what comes.
    pub fn is_heard(&self) -> bool {
        !matches!(self, Self::Requests(None))
    }

    pub fn port(&self) -> io::Result<u16> {
        match self {
            Self::Datagram(socket) => socket.local_addr(),
            #[cfg(target_os = "linux")]
            Self::Frames(socket, _) => socket.local_addr(),
            #[cfg(target_os = "linux")]
            Self::Program(program) => program.socket.local_addr(),
            #[cfg(target_os = "linux")]
            Self::Ring(ring) => ring.socket.local_addr(),
            #[cfg(target_os = "linux")]
            Self::Xsk(xsk) => xsk.socket.local_addr(),
            Self::Requests(_) => return Ok(0),
            Self::Listener(listener) => listener.local_addr(),
        }
        .map(|address| address.port())
    }
}

/// Requests a buffer beyond the system's limit, which the administrator may have; else what the
/// limit allows.
fn set_buffer(socket: &socket2::Socket, bytes: usize) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if pentathlon_os::socket::force_receive_buffer(std::os::fd::AsFd::as_fd(socket), bytes).is_ok()
    {
        return Ok(());
    }
    socket.set_recv_buffer_size(bytes)
}
