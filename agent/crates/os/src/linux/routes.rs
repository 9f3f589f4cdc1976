//! Adds routes and takes them away: `RTM_NEWROUTE` and `RTM_DELROUTE` (rtnetlink(7)).

use crate::route::{attribute, family, octets, HEADER, RTA_DST, RTA_GATEWAY, RTM_NEWROUTE};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::time::Duration;

const RTM_DELROUTE: u16 = 25;
/// The route was made by an administrator (linux/rtnetlink.h).
const RTPROT_STATIC: u8 = 4;

/// One connection for many routes.
pub struct Routes(Socket);

impl Routes {
    pub fn open() -> io::Result<Self> {
        let socket = Socket::new(
            Domain::from(libc::AF_NETLINK),
            Type::RAW,
            Some(Protocol::from(libc::NETLINK_ROUTE)),
        )?;
        socket.set_read_timeout(Some(Duration::from_secs(5)))?;
        Ok(Self(socket))
    }

    /// Adds the route to `network`/`prefix` by the next hop `via`; an error if it is there already.
    pub fn add(&mut self, network: IpAddr, prefix: u8, via: IpAddr) -> io::Result<()> {
        let create = (libc::NLM_F_CREATE | libc::NLM_F_EXCL) as u16;
        self.tell(RTM_NEWROUTE, create, network, prefix, via)
    }

    /// Takes it away.
    pub fn remove(&mut self, network: IpAddr, prefix: u8, via: IpAddr) -> io::Result<()> {
        self.tell(RTM_DELROUTE, 0, network, prefix, via)
    }

    fn tell(
        &mut self,
        kind: u16,
        flags: u16,
        network: IpAddr,
        prefix: u8,
        via: IpAddr,
    ) -> io::Result<()> {
        // struct rtmsg: family, lengths of destination and source, tos, table, protocol, scope,
        // type, flags.
        let mut body = vec![0_u8; 12];
        body[0] = family(network);
        body[1] = prefix;
        body[4] = libc::RT_TABLE_MAIN;
        body[5] = RTPROT_STATIC;
        body[6] = libc::RT_SCOPE_UNIVERSE;
        body[7] = libc::RTN_UNICAST;
        attribute(&mut body, RTA_DST, &octets(network));
        attribute(&mut body, RTA_GATEWAY, &octets(via));
        let mut request = Vec::with_capacity(HEADER + body.len());
        request.extend_from_slice(&((HEADER + body.len()) as u32).to_ne_bytes());
        request.extend_from_slice(&kind.to_ne_bytes());
        let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16 | flags;
        request.extend_from_slice(&flags.to_ne_bytes());
        request.extend_from_slice(&[0; 8]);
        request.extend_from_slice(&body);
        self.0.write_all(&request)?;
        let mut answer = [0_u8; 4096];
        let came = self.0.read(&mut answer)?;
        // struct nlmsghdr, then struct nlmsgerr, which begins with 0 or a negative error number.
        if came < HEADER + 4 || u16::from_ne_bytes([answer[4], answer[5]]) != 2 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        match i32::from_ne_bytes(answer[HEADER..HEADER + 4].try_into().expect("4 bytes")) {
            0 => Ok(()),
            code => Err(io::Error::from_raw_os_error(code.wrapping_neg())),
        }
    }
}
