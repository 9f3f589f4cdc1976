//! The sockets of the protocols, and what it means where a system has none of them.

use super::flow::Protocol;
use super::tx::unsupported;
use socket2::{Domain, Socket, Type};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Numbers of the protocols (IANA, protocol-numbers).
const SCTP: i32 = 132;
const DCCP: i32 = 33;

/// `SOCK_DCCP` of linux/net.h.
const SOCK_DCCP: i32 = 6;

/// `SOL_SCTP` and `SCTP_NODELAY` of linux/sctp.h.
#[cfg(target_os = "linux")]
const SCTP_NODELAY: (i32, i32) = (SCTP, 3);

/// A socket of the flow's protocol. An error of the kind `Unsupported` states that the system has no
/// such protocol, and how it reported it.
pub fn socket(protocol: Protocol, address: SocketAddr) -> io::Result<Socket> {
    let (kind, number) = match protocol {
        Protocol::Udp => (Type::DGRAM, None),
        Protocol::Tcp => (Type::STREAM, None),
        Protocol::Sctp => (Type::STREAM, Some(socket2::Protocol::from(SCTP))),
        Protocol::Dccp => (Type::from(SOCK_DCCP), Some(socket2::Protocol::from(DCCP))),
        Protocol::Icmp => return Err(io::ErrorKind::InvalidInput.into()),
    };
    Socket::new(Domain::for_address(address), kind, number).map_err(|error| {
        if number.is_some() && lacks_protocol(&error) {
            unsupported(format!("the kernel has no {}: {error}", protocol.name()))
        } else {
            error
        }
    })
}

/// A socket for datagrams to a peer, at a port that the system chooses.
pub fn any_socket(peer: SocketAddr) -> io::Result<UdpSocket> {
    let any: IpAddr = match peer {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    UdpSocket::bind((any, 0))
}

/// Messages leave when they are due and do not wait to fill a packet with the next one (RFC 896).
pub fn send_at_once(protocol: Protocol, socket: &Socket) -> io::Result<()> {
    match protocol {
        Protocol::Tcp => socket.set_tcp_nodelay(true),
        #[cfg(target_os = "linux")]
        Protocol::Sctp => {
            let (level, name) = SCTP_NODELAY;
            pentathlon_os::socket::set(std::os::fd::AsFd::as_fd(socket), level, name, &1_i32)
        }
        _ => Ok(()),
    }
}

/// Binds a socket to a group and joins it at the interface that has the address `own`. Several
/// sockets may hear one group at one port.
pub fn join(socket: &Socket, group: IpAddr, own: SocketAddr) -> io::Result<()> {
    socket.set_reuse_address(true)?;
    // Bound to the group a socket hears nothing else; Windows binds to addresses of its own only.
    let heard = if cfg!(windows) { own.ip() } else { group };
    socket.bind(&SocketAddr::new(heard, own.port()).into())?;
    match (group, own.ip()) {
        (IpAddr::V4(group), IpAddr::V4(own)) => socket.join_multicast_v4(&group, &own),
        (IpAddr::V6(group), own) => socket.join_multicast_v6(&group, interface_of(own)?),
        _ => Err(io::Error::other(
            "group and address are of one version of IP",
        )),
    }
    .map_err(no_way)
}

/// Lets a socket send to a group out of the interface that has the address `own`, no further than
/// its link.
pub fn send_to_group(socket: &Socket, own: IpAddr) -> io::Result<()> {
    socket.bind(&SocketAddr::new(own, 0).into())?;
    match own {
        IpAddr::V4(address) => {
            socket.set_multicast_if_v4(&address)?;
            socket.set_multicast_ttl_v4(1)
        }
        IpAddr::V6(_) => {
            socket.set_multicast_if_v6(interface_of(own)?)?;
            socket.set_multicast_hops_v6(1)
        }
    }
}

/// An interface that has no way for groups is not one that failed.
pub fn no_way(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NetworkUnreachable | io::ErrorKind::AddrNotAvailable => {
            unsupported(format!("this interface has no way for groups: {error}"))
        }
        _ => error,
    }
}

#[cfg(target_os = "linux")]
fn interface_of(own: IpAddr) -> io::Result<u32> {
    super::live::interface_of(own)
}

/// 0: the system chooses.
#[cfg(not(target_os = "linux"))]
fn interface_of(_: IpAddr) -> io::Result<u32> {
    Ok(0)
}

/// EPROTONOSUPPORT, ESOCKTNOSUPPORT, EAFNOSUPPORT, and what systems without the numbers say.
fn lacks_protocol(error: &io::Error) -> bool {
    #[cfg(windows)]
    const LACKING: [i32; 4] = [10043, 10044, 10047, 10022];
    #[cfg(not(windows))]
    const LACKING: [i32; 4] = [
        libc::EPROTONOSUPPORT,
        libc::ESOCKTNOSUPPORT,
        libc::EAFNOSUPPORT,
        libc::EPROTOTYPE,
    ];
    error
        .raw_os_error()
        .is_some_and(|code| LACKING.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protocol_is_there_or_unsupported_with_its_name() {
        let address = "127.0.0.1:0".parse().unwrap();
        for protocol in [Protocol::Sctp, Protocol::Dccp] {
            if let Err(error) = socket(protocol, address) {
                assert_eq!(error.kind(), io::ErrorKind::Unsupported);
                let reported = error.to_string();
                let start = format!("the kernel has no {}: ", protocol.name());
                assert!(reported.starts_with(&start), "{reported}");
            }
        }
        assert!(socket(Protocol::Udp, address).is_ok());
    }
}
