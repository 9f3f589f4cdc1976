//! Adds routes and takes them away: `RTM_NEWROUTE` and `RTM_DELROUTE` (rtnetlink(7)).

use super::netlink::Netlink;
use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteType,
};
use netlink_packet_route::RouteNetlinkMessage as Message;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

/// One connection for many routes.
pub struct Routes(Netlink);

impl Routes {
    pub fn open() -> io::Result<Self> {
        Netlink::open(Duration::from_secs(5)).map(Self)
    }

    /// Adds the route to `network`/`prefix` by the next hop `via`; an error if it is there already.
    pub fn add(&mut self, network: IpAddr, prefix: u8, via: IpAddr) -> io::Result<()> {
        let route = Message::NewRoute(route(network, prefix, via));
        let flags = NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
        self.0.ask(route, flags).map(drop)
    }

    /// Takes it away.
    pub fn remove(&mut self, network: IpAddr, prefix: u8, via: IpAddr) -> io::Result<()> {
        let route = Message::DelRoute(route(network, prefix, via));
        self.0.ask(route, NLM_F_ACK).map(drop)
    }
}

fn route(network: IpAddr, prefix: u8, via: IpAddr) -> RouteMessage {
    let mut route = RouteMessage::default();
    route.header = RouteHeader {
        address_family: network.into(),
        destination_prefix_length: prefix,
        table: RouteHeader::RT_TABLE_MAIN,
        // The route was made by an administrator.
        protocol: RouteProtocol::Static,
        kind: RouteType::Unicast,
        ..RouteHeader::default()
    };
    route.attributes = vec![
        RouteAttribute::Destination(network.into()),
        RouteAttribute::Gateway(via.into()),
    ];
    route
}
