//! The network interfaces of a system that does not list them in `/sys`: `RTM_GETLINK`
//! (rtnetlink(7)).

use super::netlink::ask;
use netlink_packet_core::NLM_F_DUMP;
use netlink_packet_route::link::{LinkAttribute, LinkMessage};
use netlink_packet_route::RouteNetlinkMessage as Message;
use std::io;

/// Index and name of every interface.
pub fn list() -> io::Result<Vec<(u32, String)>> {
    let named = links()?.into_iter().filter_map(|link| {
        let name = link.attributes.into_iter().find_map(|a| match a {
            LinkAttribute::IfName(name) => Some(name),
            _ => None,
        });
        Some((link.header.index, name?))
    });
    Ok(named.collect())
}

/// Maximum transmission unit in bytes.
pub fn mtu_bytes(name: &str) -> io::Result<u64> {
    let wanted = LinkAttribute::IfName(name.to_owned());
    let links = links()?;
    let link = links.iter().find(|link| link.attributes.contains(&wanted));
    let mtu = link.into_iter().flat_map(|link| &link.attributes);
    mtu.into_iter()
        .find_map(|a| match a {
            LinkAttribute::Mtu(bytes) => Some((*bytes).into()),
            _ => None,
        })
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn links() -> io::Result<Vec<LinkMessage>> {
    let all = ask(Message::GetLink(LinkMessage::default()), NLM_F_DUMP)?;
    let links = all.into_iter().filter_map(|message| match message {
        Message::NewLink(link) => Some(link),
        _ => None,
    });
    Ok(links.collect())
}
