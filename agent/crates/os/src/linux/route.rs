//! The way to another host: `RTM_GETROUTE` and `RTM_GETNEIGH` (rtnetlink(7)).

use super::netlink::ask;
use netlink_packet_core::NLM_F_DUMP;
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::neighbour::{NeighbourAttribute, NeighbourMessage};
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteMessage};
use netlink_packet_route::RouteNetlinkMessage as Message;
use std::io;
use std::net::IpAddr;

/// The first hop to a host: the interface's index and the hop's address on that link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    pub interface: u32,
    pub address: IpAddr,
}

/// How packets to `peer` leave this host.
pub fn to(peer: IpAddr) -> io::Result<Hop> {
    let mut request = RouteMessage::default();
    request.header.address_family = peer.into();
    request.header.destination_prefix_length = if peer.is_ipv4() { 32 } else { 128 };
    request.attributes = vec![RouteAttribute::Destination(peer.into())];
    let answer = ask(Message::GetRoute(request), 0)?;
    let Some(Message::NewRoute(route)) = answer.into_iter().next() else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    let (mut interface, mut address) = (None, peer);
    for attribute in route.attributes {
        match attribute {
            RouteAttribute::Oif(index) => interface = Some(index),
            RouteAttribute::Gateway(RouteAddress::Inet(gateway)) => address = gateway.into(),
            RouteAttribute::Gateway(RouteAddress::Inet6(gateway)) => address = gateway.into(),
            _ => {}
        }
    }
    let interface = interface.ok_or(io::ErrorKind::InvalidData)?;
    Ok(Hop { interface, address })
}

/// The link address of a hop, if the kernel has found it out.
pub fn link_address(hop: Hop) -> io::Result<Option<[u8; 6]>> {
    let mut request = NeighbourMessage::default();
    request.header.family = hop.address.into();
    let wanted = NeighbourAttribute::Destination(hop.address.into());
    let mut answer = ask(Message::GetNeighbour(request), NLM_F_DUMP)?.into_iter();
    Ok(answer.find_map(|message| match message {
        Message::NewNeighbour(neighbour)
            if neighbour.header.ifindex == hop.interface
                && neighbour.attributes.contains(&wanted) =>
        {
            neighbour.attributes.iter().find_map(|a| match a {
                NeighbourAttribute::LinkLayerAddress(address) => address[..].try_into().ok(),
                _ => None,
            })
        }
        _ => None,
    }))
}

/// The index of the interface that has an address; none if there is none.
pub fn interface_of(address: IpAddr) -> io::Result<Option<u32>> {
    let mut request = AddressMessage::default();
    request.header.family = address.into();
    let mut answer = ask(Message::GetAddress(request), NLM_F_DUMP)?.into_iter();
    Ok(answer.find_map(|message| {
        let Message::NewAddress(found) = message else {
            return None;
        };
        // On a link of two ends IFA_ADDRESS is the other's.
        let (mut own, mut any) = (None, None);
        for attribute in found.attributes {
            match attribute {
                AddressAttribute::Local(address) => own = Some(address),
                AddressAttribute::Address(address) => any = Some(address),
                _ => {}
            }
        }
        (own.or(any) == Some(address)).then_some(found.header.index)
    }))
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
}
