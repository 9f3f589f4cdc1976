//! ICMP echo (RFC 792, RFC 4443): requests whose data are our packets. The receiver's kernel sends
//! them back by itself; a program there can only listen to them, by a raw socket.

use super::batch::Batch;
use super::frame;
use super::packet::LONGEST;
use super::receive::{is_quiet, PATIENCE};
use super::tx::unsupported;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};

/// Type, code, checksum, identifier, sequence.
pub const HEADER: usize = 8;

/// The longest header of IPv4 before it.
const NETWORK: usize = 60;

/// The numbers of a version of ICMP.
#[derive(Debug, Clone, Copy)]
pub struct Version {
    pub request: u8,
    pub reply: u8,
    /// A raw socket hands out the header of IP too (ip(7)), and leaves the checksum to its user.
    bare: bool,
}

impl Version {
    pub fn of(address: IpAddr) -> Self {
        if address.is_ipv4() {
            Self {
                request: 8,
                reply: 0,
                bare: true,
            }
        } else {
            Self {
                request: 128,
                reply: 129,
                bare: false,
            }
        }
    }

    pub fn socket(address: IpAddr, kind: Type) -> io::Result<Socket> {
        let (domain, protocol) = if address.is_ipv4() {
            (Domain::IPV4, Protocol::ICMPV4)
        } else {
            (Domain::IPV6, Protocol::ICMPV6)
        };
        Socket::new(domain, kind, Some(protocol))
    }

    /// What follows the header of ICMP, if that is of this type.
    pub fn open(self, packet: &[u8], raw: bool, kind: u8) -> Option<&[u8]> {
        let start = if raw && self.bare {
            usize::from(packet.first()? & 0xf) * 4
        } else {
            0
        };
        let message = packet.get(start..)?;
        (*message.first()? == kind).then(|| message.get(HEADER..))?
    }
}

/// Sends requests, and hears the replies to them.
pub struct Requests {
    pub socket: Socket,
    version: Version,
    raw: bool,
    identifier: [u8; 2],
}

impl Requests {
    /// The ping socket of icmp(7) where this user may have one, else a raw one.
    pub fn open(peer: IpAddr, identifier: u16) -> io::Result<Self> {
        if !cfg!(unix) {
            return Err(unsupported(
                "this system has no sockets for ICMP echo requests that a program may time itself",
            ));
        }
        let version = Version::of(peer);
        let ping = if cfg!(target_os = "linux") {
            Version::socket(peer, Type::DGRAM).ok()
        } else {
            None
        };
        let raw = ping.is_none();
        let socket = match ping {
            Some(socket) => socket,
            None => raw_socket(peer)?,
        };
        socket.connect(&SocketAddr::new(peer, 0).into())?;
        Ok(Self {
            socket,
            version,
            raw,
            identifier: identifier.to_be_bytes(),
        })
    }

    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            socket: self.socket.try_clone()?,
            ..*self
        })
    }

    /// Writes the header in front of each packet of a batch.
    #[inline]
    pub fn prepare(&self, batch: &mut Batch) {
        for index in 0..batch.slots().len() {
            let sequence = batch.slots()[index].sequence as u16;
            let message = batch.frame(index);
            message[..HEADER].fill(0);
            message[0] = self.version.request;
            message[4..6].copy_from_slice(&self.identifier);
            message[6..8].copy_from_slice(&sequence.to_be_bytes());
            if self.raw && self.version.bare {
                let check = frame::fold(frame::sum(message)) ^ 0xffff;
                message[2..4].copy_from_slice(&check.to_ne_bytes());
            }
        }
    }

    /// Hands over what the replies carry, until `over`.
    pub fn replies(mut self, take: &mut dyn FnMut(&[u8]), over: &AtomicBool) -> io::Result<()> {
        let (version, raw) = (self.version, self.raw);
        read(&mut self.socket, over, |packet| {
            version.open(packet, raw, version.reply).map(&mut *take);
        })
    }
}

/// Hears the requests that come to an address.
pub struct Listener {
    socket: Socket,
    version: Version,
}

impl Listener {
    /// None where this user may not listen: the kernel answers all the same, but nobody writes
    /// down which requests came.
    pub fn open(address: IpAddr) -> io::Result<Option<Self>> {
        let socket = match raw_socket(address) {
            Ok(socket) => socket,
            Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(None),
            Err(error) => return Err(error),
        };
        socket.bind(&SocketAddr::new(address, 0).into())?;
        Ok(Some(Self {
            socket,
            version: Version::of(address),
        }))
    }

    pub fn buffer(&self) -> &Socket {
        &self.socket
    }

    /// Hands over what the requests carry, until `over`.
    pub fn requests(mut self, take: &mut dyn FnMut(&[u8]), over: &AtomicBool) -> io::Result<()> {
        let version = self.version;
        read(&mut self.socket, over, |packet| {
            version.open(packet, true, version.request).map(&mut *take);
        })
    }
}

fn raw_socket(address: IpAddr) -> io::Result<Socket> {
    Version::socket(address, Type::RAW).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => unsupported(format!(
            "this user may have no socket for ICMP: it needs the right CAP_NET_RAW, or a group \
             within net.ipv4.ping_group_range: {error}"
        )),
        _ => unsupported(format!("the kernel has no sockets for ICMP: {error}")),
    })
}

fn read(socket: &mut Socket, over: &AtomicBool, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut packet = vec![0; NETWORK + HEADER + LONGEST + 1];
    loop {
        match socket.read(&mut packet) {
            Ok(length) => take(&packet[..length]),
            Err(error) if is_quiet(&error) || error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        // Where others ask too it is never quiet: the end comes after the quiet that the command
        // waited for.
        if over.load(Ordering::Relaxed) {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Header, Id};

    #[test]
    fn a_request_carries_the_packet_and_sums_to_zero() {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
        let requests = Requests {
            socket,
            version: Version::of("198.18.0.1".parse().unwrap()),
            raw: true,
            identifier: [1, 2],
        };
        let mut batch = Batch::new(HEADER, false, || 7);
        batch.add(0x1_0005, 10, 33);
        batch.stamp(Id::new(3, 4), 10);
        requests.prepare(&mut batch);
        let message = batch.framed(0).to_vec();
        assert_eq!(message.len(), HEADER + 33);
        assert_eq!(frame::fold(frame::sum(&message)), 0xffff);
        assert_eq!(message[..2], [8, 0]);
        assert_eq!(message[4..8], [1, 2, 0, 5]);
        let mut whole = vec![0x46; 24];
        whole.extend_from_slice(&message);
        let version = requests.version;
        let data = version.open(&whole, true, version.request).unwrap();
        assert_eq!(version.open(&whole, true, version.reply), None);
        assert_eq!(Header::read(data).unwrap().sequence, 0x1_0005);
        assert_eq!(version.open(&whole[..28], true, version.request), None);
    }

    #[test]
    fn version_six_has_no_network_header() {
        let version = Version::of("::1".parse().unwrap());
        let message = [129, 0, 0, 0, 0, 0, 0, 0, 9];
        assert_eq!(version.open(&message, true, 129), Some(&[9][..]));
    }
}
