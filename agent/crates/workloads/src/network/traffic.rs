//! `network.traffic`: one flow of packets from one host to another.

use super::metrics::{metrics, CONTEXT, MAY_BE_ZERO};
use super::parameters::parameters;
use pentathlon_protocol::catalog::{self, Factor, Semantics};

pub struct Traffic;

impl pentathlon_harness::BetweenHosts for Traffic {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "network.traffic",
            title: "Traffic between two hosts",
            summary: "Flows of packets, sent open-loop by one host or by both, received and sent \
                      back by the other. Both ends write down every packet; loss, delay, jitter and rates \
                      are computed from both records.",
            source: "martinovic2012 §6.4, Fig. 8 to 15; vdovjak2021 §4.1, §4.2 and §5, Fig. 2 and 3",
            parameters: parameters(),
            factors: vec![
                Factor::category("protocol", "protocol"),
                Factor::category("ip_version", "IP version"),
                Factor::new("size_bytes", "packet size", Some("B"), "linear"),
                Factor::category("transmit_backend", "sent by"),
                Factor::category("size", "packet size drawn from"),
                Factor::category("profile", "application"),
                Factor::category("flow", "flow"),
                Factor::category("multicast", "receivers of the group"),
            ],
            metrics: metrics(),
            checksum: "1: every packet that counts carried the session's id and an unharmed header",
            semantics: Semantics {
                linux: "send(2) and recv(2) on ordinary sockets, TCP with TCP_NODELAY; other \
                        transmit backends by the interfaces that they name",
                windows: "send and recv on ordinary sockets, TCP with TCP_NODELAY",
            },
        }
    }

    fn may_be_zero(&self) -> &'static [&'static str] {
        MAY_BE_ZERO
    }

    fn context(&self) -> &'static [&'static str] {
        CONTEXT
    }
}
