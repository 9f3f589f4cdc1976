//! Brings an interface up and gives it addresses: `RTM_SETLINK` and `RTM_NEWADDR` (rtnetlink(7)).

use super::netlink::ask;
use crate::interface;
use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_REPLACE};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::RouteNetlinkMessage as Message;
use std::io;
use std::net::IpAddr;

/// Lets a new interface of two hosts, before it is up, send next to nothing by itself: IPv6 solicits routers
/// (RFC 4861 6.3.7), tests its addresses for duplicates (RFC 4862 5.4), so that a new one cannot be
/// used for a second, and reports its groups (RFC 3810) for up to a quarter of a minute, in the
/// middle of a trial. Where the kernel has no IPv6, or no such setting, there is nothing to do.
pub fn silence(name: &str) {
    for (setting, value) in [
        ("router_solicitations", "0"),
        ("accept_dad", "0"),
        ("mldv2_unsolicited_report_interval", "1"),
    ] {
        std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/{setting}"), value).ok();
    }
}

/// Brings the interface up, as `ip link set NAME up` does.
pub fn up(name: &str) -> io::Result<()> {
    let mut link = LinkMessage::default();
    link.header.flags = LinkFlags::Up;
    link.header.change_mask = LinkFlags::Up;
    link.attributes = vec![LinkAttribute::IfName(name.to_owned())];
    ask(Message::SetLink(link), NLM_F_ACK).map(drop)
}

/// Adds an address with its prefix to the interface.
pub fn add(name: &str, address: IpAddr, prefix: u8) -> io::Result<()> {
    let links = interface::list()?;
    let index = links.iter().find(|(_, found)| found == name);
    let mut message = AddressMessage::default();
    message.header.family = address.into();
    message.header.prefix_len = prefix;
    message.header.index = index
        .ok_or_else(|| io::Error::from_raw_os_error(libc::ENODEV))?
        .0;
    message.attributes = vec![
        AddressAttribute::Local(address),
        AddressAttribute::Address(address),
    ];
    let flags = NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
    ask(Message::NewAddress(message), flags).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::{interface_of, link_address, to, Hop};
    use crate::routes::Routes;
    use netlink_packet_core::NLM_F_EXCL;
    use netlink_packet_route::link::{InfoData, InfoKind, InfoVeth, LinkInfo};

    /// A link whose two ends are `one` and `other`.
    fn link(one: &str, other: &str) -> io::Result<()> {
        let [mut link, peer] = [one, other].map(|name| {
            let mut end = LinkMessage::default();
            end.attributes = vec![LinkAttribute::IfName(name.to_owned())];
            end
        });
        link.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
        ]));
        let flags = NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
        ask(Message::NewLink(link), flags).map(drop)
    }

    /// In a network namespace of its own, of which only this thread knows; not without the right
    /// CAP_SYS_ADMIN, nor where the kernel makes no such links.
    #[test]
    fn a_new_address_can_be_used_and_routes_lead_by_it() {
        let there = || {
            // SAFETY: plain integers; the thread ends with the test.
            if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 || link("one", "other").is_err() {
                return;
            }
            silence("one");
            up("one").unwrap();
            up("other").unwrap();
            let links = interface::list().unwrap();
            let index = links.iter().find(|(_, name)| name == "one").unwrap().0;
            assert_eq!(interface::mtu_bytes("one").unwrap(), 1500);
            for (own, via, far, prefix) in [
                ("192.0.2.1", "192.0.2.2", "198.51.100.0", 24),
                ("2001:db8::1", "2001:db8::2", "2001:db8:1::", 64),
            ] {
                let [own, via, far]: [IpAddr; 3] = [own, via, far].map(|a| a.parse().unwrap());
                assert!(to(via).is_err() && interface_of(own).unwrap().is_none());
                for _ in 0..2 {
                    add("one", own, prefix).unwrap();
                }
                assert_eq!(interface_of(own).unwrap(), Some(index));
                let neighbour = Hop {
                    interface: index,
                    address: via,
                };
                assert_eq!(to(via).unwrap(), neighbour);
                assert_eq!(link_address(neighbour).unwrap(), None);
                let mut routes = Routes::open().unwrap();
                routes.add(far, prefix, via).unwrap();
                let again = routes.add(far, prefix, via).unwrap_err();
                assert_eq!(again.raw_os_error(), Some(libc::EEXIST));
                assert_eq!(to(far).unwrap(), neighbour);
                routes.remove(far, prefix, via).unwrap();
                let gone = routes.remove(far, prefix, via).unwrap_err();
                assert_eq!(gone.raw_os_error(), Some(libc::ESRCH));
                assert!(to(far).is_err());
                assert!(add("none", own, prefix).is_err());
            }
            for wrong in ["none", ""] {
                assert!(up(wrong).is_err() && interface::mtu_bytes(wrong).is_err());
            }
        };
        std::thread::scope(|scope| scope.spawn(there).join().unwrap());
    }
}
