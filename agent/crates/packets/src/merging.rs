//! Whether datagrams can be merged on their way to a receiver before their time of arrival is taken:
//! by the interface's driver (LRO), or by the kernel where it hands packets on (GRO; kernel
//! documentation, networking/segmentation-offloads). They are cut apart again for a socket, so that
//! none is missing, but they then come all at once.

use super::flow::{Protocol, Reader, ReceiveFlow};
use super::link;
use super::live::interface_of;
use pentathlon_os::ethtool::Ethtool;
use std::io;

/// Merging by the kernel as a whole, and what makes it merge datagrams too, as ethtool(8) names them.
const KERNEL: &str = "rx-gro";
const OF_DATAGRAMS: [&str; 2] = ["rx-udp-gro-forwarding", "rx-gro-list"];

/// Merging by the driver.
const DRIVER: &str = "rx-lro";

/// Why packets of a flow can be merged, as one sentence; none if they are not, or nobody reports. The
/// receiver must be open: a program at the interface switches features.
pub fn reason(flow: &ReceiveFlow) -> Option<String> {
    if flow.protocol != Protocol::Udp {
        return None;
    }
    let reported = || -> io::Result<_> {
        let name = link::name(interface_of(flow.address)?)?;
        let features = Ethtool::open()?.features(&name)?;
        Ok((name, features))
    };
    let (name, features) = reported().ok()?;
    let feature = merging(&features, flow.reader)?;
    Some(format!(
        "{name} can merge packets before their time of arrival is taken ({feature} is on), so the \
         times between them are unknown: switch it off with 'ethtool -K {name} {feature} off'"
    ))
}

/// The feature that merges datagrams for a reader.
fn merging(features: &[(String, bool)], reader: Reader) -> Option<&'static str> {
    let is_on = |name: &str| features.iter().any(|(each, on)| *on && each == name);
    // A program at the interface sees frames before the kernel merges them.
    let above = !matches!(reader, Reader::Xdp | Reader::Afxdp);
    let kernel = above && is_on(KERNEL);
    OF_DATAGRAMS
        .into_iter()
        .find(|name| kernel && is_on(name))
        .or(is_on(DRIVER).then_some(DRIVER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_are_merged_where_a_feature_states_so() {
        let of = |on: &[&str], reader| {
            let known = [KERNEL, "rx-udp-gro-forwarding", "rx-gro-list", DRIVER];
            let features = known.map(|name| (name.to_owned(), on.contains(&name)));
            merging(&features, reader)
        };
        assert_eq!(of(&[KERNEL], Reader::Recv), None);
        for name in OF_DATAGRAMS {
            assert_eq!(of(&[KERNEL, name], Reader::Recvmmsg), Some(name));
            assert_eq!(of(&[name], Reader::Recv), None, "GRO as a whole is off");
            assert_eq!(of(&[KERNEL, name], Reader::Xdp), None);
        }
        assert_eq!(of(&[DRIVER], Reader::Xdp), Some(DRIVER));
    }
}
