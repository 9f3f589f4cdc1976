//! The way to another host: `RTM_GETROUTE` and `RTM_GETNEIGH` (rtnetlink(7)).

use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::time::Duration;

const RTM_NEWADDR: u16 = 20;
const RTM_GETADDR: u16 = 22;
const RTM_NEWNEIGH: u16 = 28;
const RTM_GETNEIGH: u16 = 30;
pub(super) const RTM_NEWROUTE: u16 = 24;
const RTM_GETROUTE: u16 = 26;
/// Length of struct ifaddrmsg.
const ADDRESS_MESSAGE: usize = 8;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
pub(super) const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
pub(super) const RTA_GATEWAY: u16 = 5;
const NDA_DST: u16 = 1;
const NDA_LLADDR: u16 = 2;
/// Lengths of struct nlmsghdr, struct rtmsg and struct ndmsg.
pub(super) const HEADER: usize = 16;
const MESSAGE: usize = 12;

/// The first hop to a host: the interface's index and the hop's address on that link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    pub interface: u32,
    pub address: IpAddr,
}

/// How packets to `peer` leave this host.
pub fn to(peer: IpAddr) -> io::Result<Hop> {
    let mut body = [0_u8; MESSAGE];
    body[0] = family(peer);
    body[1] = if peer.is_ipv4() { 32 } else { 128 };
    let mut attributes = Vec::new();
    attribute(&mut attributes, RTA_DST, &octets(peer));
    let mut found = None;
    ask(RTM_GETROUTE, 0, &body, &attributes, |kind, message| {
        if kind == RTM_NEWROUTE && message.len() >= MESSAGE {
            let (mut interface, mut address) = (None, peer);
            for (name, value) in Attributes(&message[MESSAGE..]) {
                match name {
                    RTA_OIF => interface = value.try_into().ok().map(u32::from_ne_bytes),
                    RTA_GATEWAY => address = ip(value).unwrap_or(peer),
                    _ => {}
                }
            }
            found = interface.map(|interface| Hop { interface, address });
        }
    })?;
    found.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The link address of a hop, if the kernel has found it out.
pub fn link_address(hop: Hop) -> io::Result<Option<[u8; 6]>> {
    let mut body = [0_u8; MESSAGE];
    body[0] = family(hop.address);
    let mut found = None;
    ask(
        RTM_GETNEIGH,
        libc::NLM_F_DUMP as u16,
        &body,
        &[],
        |kind, message| {
            if kind != RTM_NEWNEIGH || message.len() < MESSAGE {
                return;
            }
            let index = u32::from_ne_bytes(message[4..8].try_into().expect("4 bytes"));
            let (mut same, mut link) = (false, None);
            for (name, value) in Attributes(&message[MESSAGE..]) {
                match name {
                    NDA_DST => same = ip(value) == Some(hop.address),
                    NDA_LLADDR => link = value.try_into().ok(),
                    _ => {}
                }
            }
            if same && index == hop.interface {
                found = link;
            }
        },
    )?;
    Ok(found)
}

/// The index of the interface that has an address; none if there is none.
pub fn interface_of(address: IpAddr) -> io::Result<Option<u32>> {
    let mut body = [0_u8; ADDRESS_MESSAGE];
    body[0] = family(address);
    let mut found = None;
    let dump = libc::NLM_F_DUMP as u16;
    ask(RTM_GETADDR, dump, &body, &[], |kind, message| {
        if kind != RTM_NEWADDR || message.len() < ADDRESS_MESSAGE {
            return;
        }
        // On a link of two ends IFA_ADDRESS is the other's.
        let (mut own, mut any) = (None, None);
        for (name, value) in Attributes(&message[ADDRESS_MESSAGE..]) {
            match name {
                IFA_LOCAL => own = ip(value),
                IFA_ADDRESS => any = ip(value),
                _ => {}
            }
        }
        if own.or(any) == Some(address) {
            let index = message[4..8].try_into().expect("4 bytes");
            found = Some(u32::from_ne_bytes(index));
        }
    })?;
    Ok(found)
}

/// Asks the kernel, and shows every message of the answer with its kind.
fn ask(
    kind: u16,
    flags: u16,
    body: &[u8],
    attributes: &[u8],
    mut take: impl FnMut(u16, &[u8]),
) -> io::Result<()> {
    let mut socket = Socket::new(
        Domain::from(libc::AF_NETLINK),
        Type::RAW,
        Some(Protocol::from(libc::NETLINK_ROUTE)),
    )?;
    // A system that never answers must not hold us.
    socket.set_read_timeout(Some(Duration::from_millis(500)))?;
    let mut request = Vec::with_capacity(HEADER + body.len() + attributes.len());
    let length = (HEADER + body.len() + attributes.len()) as u32;
    request.extend_from_slice(&length.to_ne_bytes());
    request.extend_from_slice(&kind.to_ne_bytes());
    request.extend_from_slice(&(libc::NLM_F_REQUEST as u16 | flags).to_ne_bytes());
    request.extend_from_slice(&[0; 8]);
    request.extend_from_slice(body);
    request.extend_from_slice(attributes);
    socket.write_all(&request)?;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let came = socket.read(&mut buffer)?;
        if came == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = &buffer[..came];
        while bytes.len() >= HEADER {
            let length = u32::from_ne_bytes(bytes[..4].try_into().expect("4 bytes")) as usize;
            if length < HEADER || length > bytes.len() {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let kind = u16::from_ne_bytes([bytes[4], bytes[5]]);
            let message = &bytes[HEADER..length];
            match i32::from(kind) {
                libc::NLMSG_DONE => return Ok(()),
                libc::NLMSG_ERROR => {
                    let code = message.first_chunk().map_or(0, |c| i32::from_ne_bytes(*c));
                    return Err(io::Error::from_raw_os_error(code.wrapping_neg()));
                }
                _ => take(kind, message),
            }
            bytes = &bytes[length.next_multiple_of(4).min(bytes.len())..];
        }
        if flags & libc::NLM_F_DUMP as u16 == 0 {
            return Ok(());
        }
    }
}

pub(super) fn attribute(bytes: &mut Vec<u8>, name: u16, value: &[u8]) {
    bytes.extend_from_slice(&(4 + value.len() as u16).to_ne_bytes());
    bytes.extend_from_slice(&name.to_ne_bytes());
    bytes.extend_from_slice(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

/// Names and values of a message's attributes; it ends where the bytes are none.
struct Attributes<'a>(&'a [u8]);

impl<'a> Iterator for Attributes<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let head = self.0.first_chunk::<4>()?;
        let length = usize::from(u16::from_ne_bytes([head[0], head[1]]));
        let value = self.0.get(4..length)?;
        let name = u16::from_ne_bytes([head[2], head[3]]);
        self.0 = &self.0[length.next_multiple_of(4).min(self.0.len())..];
        Some((name, value))
    }
}

pub(super) fn family(address: IpAddr) -> u8 {
    let family = if address.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    };
    family as u8
}

pub(super) fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

fn ip(value: &[u8]) -> Option<IpAddr> {
    if let Ok(four) = <[u8; 4]>::try_from(value) {
        return Some(four.into());
    }
    <[u8; 16]>::try_from(value).ok().map(IpAddr::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_address_is_reached_by_an_interface_without_a_neighbour() {
        let Ok(hop) = to([127, 0, 0, 1].into()) else {
            return; // A namespace whose loopback is down has no route at all.
        };
        assert_eq!(hop.address, IpAddr::from([127, 0, 0, 1]));
        let names = crate::interface::list().unwrap();
        assert!(names.contains(&(hop.interface, "lo".to_owned())));
        assert!(link_address(hop).is_ok());
        assert_eq!(interface_of(hop.address).unwrap(), Some(hop.interface));
    }

    #[test]
    fn torn_attributes_end_the_list() {
        let mut bytes = Vec::new();
        attribute(&mut bytes, 7, &[1, 2, 3, 4, 5]);
        attribute(&mut bytes, 8, &[9]);
        let all: Vec<_> = Attributes(&bytes).collect();
        assert_eq!(all, [(7, &[1, 2, 3, 4, 5][..]), (8, &[9][..])]);
        for end in 0..bytes.len() {
            assert!(Attributes(&bytes[..end]).count() <= 2, "{end}");
        }
    }
}
