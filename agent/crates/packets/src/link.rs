//! From this host's end of a flow to the frames that carry it: interface, link addresses, ports.

use super::batch;
use super::flow::SendFlow;
use super::frame::{Ends, Template, HEADERS_4, HEADERS_6};
use super::model::Model;
use super::packet::LONGEST;
use super::transport;
use super::tx::unsupported;
use pentathlon_os::ethtool::Ethtool;
use pentathlon_os::packet::FrameSocket;
use pentathlon_os::socket::set;
use pentathlon_os::{interface, route};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

/// The feature of devices that cut super-packets themselves, and drivers whose devices do not.
const SEGMENTATION: &str = "tx-udp-segmentation";
const VIRTUAL: [&str; 5] = ["veth", "tun", "bridge", "macvlan", "dummy"];

/// How often, and how long apart, the next hop's link address is requested.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);

/// A port where nobody listens (RFC 863): a datagram to it makes the kernel find the neighbour.
const DISCARD: u16 = 9;

/// The way of a flow's frames.
pub struct Link {
    pub socket: FrameSocket,
    pub interface: u32,
    pub template: Template,
    pub ends: Ends,
}

impl Link {
    /// `socket` is the flow's own, connected: it holds the port that frames name as their source.
    pub fn open(socket: &UdpSocket, size: &Model) -> io::Result<Self> {
        let (own, peer) = (socket.local_addr()?, socket.peer_addr()?);
        let hop = route::to(peer.ip())?;
        let frames = FrameSocket::open(hop.interface).map_err(|e| match e.kind() {
            io::ErrorKind::PermissionDenied => {
                unsupported(format!("packet sockets need the right CAP_NET_RAW: {e}"))
            }
            _ if e.raw_os_error() == Some(libc::EAFNOSUPPORT) => {
                unsupported(format!("the kernel has no packet sockets: {e}"))
            }
            _ => e,
        })?;
        let name = name(hop.interface)?;
        let source_link = frames.address.ok_or_else(|| {
            unsupported(format!(
                "the interface {name} is no Ethernet device, and frames need one"
            ))
        })?;
        check_size(&name, size, peer)?;
        let destination_link = neighbour(peer, hop)?;
        let ends = Ends {
            source_link,
            destination_link,
            source: own,
            destination: peer,
        };
        Ok(Self {
            socket: frames,
            interface: hop.interface,
            template: Template::new(&ends),
            ends,
        })
    }
}

/// Lets the system cut what is sent into packets of one length; gives how many it cuts at most.
///
/// A virtual device that is said to segment passes super-packets on as they are, and what goes
/// over it are not packets: that is refused.
pub fn segment(socket: &UdpSocket, flow: &SendFlow) -> io::Result<usize> {
    let Some(length) = flow.length() else {
        return Err(unsupported(
            "the transmit backend 'gso' sends packets of one size only",
        ));
    };
    let peer = socket.peer_addr()?;
    let name = name(route::to(peer.ip())?.interface)?;
    check_size(&name, &flow.size, peer)?;
    let ethtool = Ethtool::open()?;
    // A device without a driver is loopback.
    let is_virtual = match ethtool.driver(&name) {
        Ok(info) => VIRTUAL.contains(&info.driver.as_str()),
        Err(_) => true,
    };
    let features = ethtool.features(&name).unwrap_or_default();
    let segments = features.contains(&(SEGMENTATION.to_owned(), true));
    if segments && is_virtual {
        return Err(unsupported(format!(
            "{name} is a virtual device that passes super-packets on, which are not packets: \
             switch it off with 'ethtool -K {name} {SEGMENTATION} off'"
        )));
    }
    let segment = i32::try_from(length).map_err(|_| io::ErrorKind::InvalidInput)?;
    set(socket.as_fd(), libc::SOL_UDP, libc::UDP_SEGMENT, &segment)
        .map_err(|e| unsupported(format!("the kernel does not segment UDP: {e}")))?;
    Ok((LONGEST / length).clamp(1, batch::MOST))
}

/// Frames are not fragmented: the largest known packet must fit.
fn check_size(name: &str, size: &Model, peer: SocketAddr) -> io::Result<()> {
    let headers = if peer.is_ipv4() { HEADERS_4 } else { HEADERS_6 };
    let most = interface::mtu_bytes(name)?;
    let longest = match *size {
        Model::Constant { value } => value,
        Model::Uniform { maximum, .. } => maximum,
        Model::Imix {} => 1472.0,
        _ => 0.0,
    };
    let needed = longest as u64 + headers as u64 - 14;
    if needed > most {
        return Err(unsupported(format!(
            "packets of {longest} B do not fit: with their headers they have {needed} B, the MTU \
             of {name} is {most} B, and frames are not fragmented"
        )));
    }
    Ok(())
}

/// The link address of the next hop; the kernel is made to request it.
fn neighbour(peer: SocketAddr, hop: route::Hop) -> io::Result<[u8; 6]> {
    let knock = transport::any_socket(peer)?;
    for _ in 0..TRIES {
        if let Some(address) = route::link_address(hop)? {
            return Ok(address);
        }
        knock
            .send_to(&[0], SocketAddr::new(peer.ip(), DISCARD))
            .ok();
        std::thread::sleep(PAUSE);
    }
    Err(io::Error::other(format!(
        "the link address of {} was not found out",
        hop.address
    )))
}

/// The name of an interface.
pub fn name(index: u32) -> io::Result<String> {
    interface::list()?
        .into_iter()
        .find(|(found, _)| *found == index)
        .map(|(_, name)| name)
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}
