//! What a host that forwards packets is measured by. Another host, the generator, sends through it
//! and receives at its other side; here stands what the catalog says of it.

mod ndr;
mod sweep;

use pentathlon_protocol::catalog::{Factor, Parameter};

pub const WORKLOADS: &[&dyn super::Workload] = &[&sweep::Sweep, &ndr::Ndr];

const SEMANTICS: pentathlon_protocol::catalog::Semantics =
    pentathlon_protocol::catalog::Semantics {
        linux: "the kernel forwards IPv4 or IPv6 between two interfaces (ip_forward, forwarding)",
        windows:
            "not yet: the forwarder is Linux in a namespace, as a guest or as a machine of its own",
    };

/// The shortest frame of Ethernet, which holds IPv4 and UDP headers, our compact one and the check
/// sequence.
const SHORTEST: f64 = 64.0;

fn frames(default: &[u64]) -> Parameter {
    Parameter::integers("frame_bytes", default)
        .unit("B")
        .limits(SHORTEST, 1518.0)
        .described(
            "lengths of the Ethernet frames with their check sequence (RFC 2544, section 9); with \
             IPv6 84 is the shortest",
        )
}

/// Parameters that both workloads have.
fn common() -> Vec<Parameter> {
    vec![
        Parameter::texts("competitor", &["none"]).described(
            "what runs on the forwarder meanwhile: `none` or the id of a workload, with its \
             defaults",
        ),
        Parameter::integers("copies", &[1])
            .limits(1.0, 64.0)
            .described("processes of the competitor at once"),
        Parameter::integers("nice", &[0])
            .limits(-20.0, 19.0)
            .described("nice values of the competitor"),
        Parameter::texts("scheduler", &["other"])
            .choices(&["other", "batch", "idle", "fifo", "rr"])
            .described(
                "scheduling policies of the competitor (sched(7)); `fifo` and `rr` with priority 1",
            ),
        Parameter::integers("ip_versions", &[4])
            .limits(4.0, 6.0)
            .described("versions of the Internet Protocol, 4 and 6"),
        Parameter::texts("steering", &["own"])
            .choices(&["own", "inline", "threaded"])
            .described(
                "who handles received packets: `own` the forwarder's own CPU, as soft interrupts \
                 (receive packet steering in a namespace); `inline` the sender's CPU; `threaded` a \
                 kernel thread on the forwarder's CPU (threaded NAPI)",
            ),
        Parameter::integers("routes", &[0])
            .limits(0.0, 1_000_000.0)
            .described("routes in the forwarder's table beside the two that are used"),
        Parameter::integers("budgets", &[0])
            .limits(0.0, 1_000_000.0)
            .described(
                "packets that one run of the receive soft interrupt handles \
                 (net.core.netdev_budget); 0: as the forwarder has it",
            ),
        Parameter::integers("firewall_rules", &[0])
            .limits(0.0, 100_000.0)
            .described("rules that every forwarded packet passes without a match (nft(8))"),
        Parameter::text("transmit_backend", "send")
            .choices(&[
                "best", "send", "sendmmsg", "packet", "afxdp", "live", "pktgen",
            ])
            .described(
                "how the generator hands packets to its system: one send(2) each, sendmmsg(2), a \
                 packet socket past the queueing discipline, an AF_XDP socket, frames that a \
                 program in the kernel makes and another takes (live frames), or the kernel's own \
                 generator; `best`: the first that works of live, packet, sendmmsg and send; but \
                 with send and live, packets are received in batches that share a time",
            ),
        Parameter::number("ramp_s", 0.0)
            .unit("s")
            .limits(0.0, 600.0)
            .described(
                "a flow begins so long before what is measured of it; its packets until then count \
                 for nothing",
            ),
        Parameter::number("lateness_limit_ms", 10.0)
            .unit("ms")
            .limits(0.001, 60_000.0)
            .described("a trial is invalid if more than 1 % of its packets leave later than this"),
    ]
}

/// Factors that both workloads have. A case names those after the second only where the study
/// sets them.
fn settings() -> Vec<Factor> {
    vec![
        Factor::new("frame_bytes", "frame", Some("B"), "linear"),
        Factor::category("competitor", "competitor"),
        Factor::category("ip_version", "IP version"),
        Factor::category("steering", "steering"),
        Factor::new("routes", "routes", None, "linear"),
        Factor::new("firewall_rules", "firewall rules", None, "linear"),
        Factor::new("budget", "NAPI budget", None, "linear"),
        Factor::category("transmit_backend", "sent by"),
    ]
}
