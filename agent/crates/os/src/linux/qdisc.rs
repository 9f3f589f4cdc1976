//! The queueing disciplines of all network devices: `RTM_GETQDISC` (rtnetlink(7)).

use super::netlink::ask;
use netlink_packet_core::NLM_F_DUMP;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};
use netlink_packet_route::RouteNetlinkMessage as Message;
use std::collections::BTreeMap;
use std::io;

/// The kind of the root discipline of each device, by interface index.
pub fn roots() -> io::Result<BTreeMap<i32, String>> {
    let all = ask(
        Message::GetQueueDiscipline(TcMessage::default()),
        NLM_F_DUMP,
    )?;
    Ok(all.into_iter().filter_map(root).collect())
}

fn root(message: Message) -> Option<(i32, String)> {
    let Message::NewQueueDiscipline(message) = message else {
        return None;
    };
    let root = message.header.parent == TcHandle::ROOT;
    let kind = message.attributes.into_iter().find_map(|a| match a {
        TcAttribute::Kind(kind) => Some(kind),
        _ => None,
    });
    kind.filter(|_| root)
        .map(|kind| (message.header.index, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_kept_and_children_are_not() {
        let qdisc = |parent: u32, kind: &str| {
            let mut message = TcMessage::with_index(2);
            message.header.parent = parent.into();
            message.attributes = vec![TcAttribute::Kind(kind.to_owned())];
            Message::NewQueueDiscipline(message)
        };
        let found = root(qdisc(0xFFFF_FFFF, "mq"));
        assert_eq!(found, Some((2, "mq".to_owned())));
        assert_eq!(root(qdisc(0x10001, "fq_codel")), None);
    }
}
