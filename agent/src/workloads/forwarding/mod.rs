//! What a host that forwards packets is measured by. Another host, the generator, sends through it
//! and receives at its other side; here stands what the catalog says of it.

mod ndr;
mod sweep;

use crate::catalog::{Direction, Factor, Indicator, Parameter, Type};
use crate::measure::Failure;
use serde_json::{json, Value};

pub const WORKLOADS: &[&dyn super::Workload] = &[&sweep::Sweep, &ndr::Ndr];

const SEMANTICS: crate::catalog::Semantics = crate::catalog::Semantics {
    linux: "the kernel forwards IPv4 or IPv6 between two interfaces (ip_forward, forwarding)",
    windows:
        "not yet: the forwarder is Linux in a namespace, as a guest or as a machine of its own",
};

fn refuse() -> Result<(), Failure> {
    Err(Failure::Unsupported(
        "forwarding needs a generator beside the system: give the system a [system.peer]".into(),
    ))
}

fn plain(
    name: &'static str,
    kind: Type,
    default: Value,
    unit: Option<&'static str>,
    description: &'static str,
) -> Parameter {
    Parameter {
        name,
        kind,
        default,
        unit,
        minimum: None,
        maximum: None,
        choices: None,
        description,
    }
}

fn limits(minimum: f64, maximum: f64, parameter: Parameter) -> Parameter {
    Parameter {
        minimum: Some(minimum),
        maximum: Some(maximum),
        ..parameter
    }
}

/// The shortest frame that holds Ethernet, IPv4 and UDP headers, the 32 bytes of ours and the
/// check sequence.
const SHORTEST: f64 = 78.0;

fn frames(default: Value) -> Parameter {
    limits(
        SHORTEST,
        1518.0,
        plain(
            "frame_bytes",
            Type::Integers,
            default,
            Some("B"),
            "lengths of the Ethernet frames with their check sequence (RFC 2544, section 9); 78 \
             is the shortest that carries sequence and times",
        ),
    )
}

/// Parameters that both workloads have.
fn common() -> Vec<Parameter> {
    vec![
        plain(
            "competitor",
            Type::Texts,
            json!(["none"]),
            None,
            "what runs on the forwarder meanwhile: `none` or the id of a workload, with its \
             defaults",
        ),
        limits(
            1.0,
            64.0,
            plain(
                "copies",
                Type::Integers,
                json!([1]),
                None,
                "processes of the competitor at once",
            ),
        ),
        limits(
            -20.0,
            19.0,
            plain(
                "nice",
                Type::Integers,
                json!([0]),
                None,
                "nice values of the competitor",
            ),
        ),
        Parameter {
            choices: Some(vec!["other", "batch", "idle", "fifo", "rr"]),
            ..plain(
                "scheduler",
                Type::Texts,
                json!(["other"]),
                None,
                "scheduling policies of the competitor (sched(7)); `fifo` and `rr` with priority 1",
            )
        },
        limits(
            4.0,
            6.0,
            plain(
                "ip_versions",
                Type::Integers,
                json!([4]),
                None,
                "versions of the Internet Protocol, 4 and 6",
            ),
        ),
        Parameter {
            choices: Some(vec!["own", "inline", "threaded"]),
            ..plain(
                "steering",
                Type::Texts,
                json!(["own"]),
                None,
                "who handles received packets: `own` the forwarder's own CPU, as soft interrupts \
                 (receive packet steering in a namespace); `inline` the sender's CPU; `threaded` \
                 a kernel thread on the forwarder's CPU (threaded NAPI)",
            )
        },
        limits(
            0.0,
            1_000_000.0,
            plain(
                "routes",
                Type::Integers,
                json!([0]),
                None,
                "routes in the forwarder's table beside the two that are used",
            ),
        ),
        limits(
            0.0,
            1_000_000.0,
            plain(
                "budgets",
                Type::Integers,
                json!([0]),
                None,
                "packets that one run of the receive soft interrupt handles \
                 (net.core.netdev_budget); 0: as the forwarder has it",
            ),
        ),
        limits(
            0.0,
            100_000.0,
            plain(
                "firewall_rules",
                Type::Integers,
                json!([0]),
                None,
                "rules that every forwarded packet passes without a match (nft(8))",
            ),
        ),
        Parameter {
            choices: Some(vec!["send", "sendmmsg", "packet", "live"]),
            ..plain(
                "rung",
                Type::Text,
                json!("send"),
                None,
                "how the generator hands packets to its system: one send(2) each, sendmmsg(2), a \
                 packet socket past the queueing discipline, or frames that a program in the \
                 kernel makes and another takes (live frames); with the middle two, packets are \
                 received in batches that share a time",
            )
        },
        limits(
            0.001,
            60_000.0,
            plain(
                "lateness_limit_ms",
                Type::Number,
                json!(10.0),
                Some("ms"),
                "a trial is invalid if more than 1 % of its packets leave later than this",
            ),
        ),
    ]
}

/// Factors that both workloads have. A case names those after the second only where the study
/// sets them.
fn settings() -> Vec<Factor> {
    vec![
        factor("frame_bytes", "frame", Some("B"), "linear"),
        factor("competitor", "competitor", None, "category"),
        factor("ip_version", "IP version", None, "category"),
        factor("steering", "steering", None, "category"),
        factor("routes", "routes", None, "linear"),
        factor("firewall_rules", "firewall rules", None, "linear"),
        factor("budget", "NAPI budget", None, "linear"),
    ]
}

fn factor(
    name: &'static str,
    title: &'static str,
    unit: Option<&'static str>,
    scale: &'static str,
) -> Factor {
    Factor {
        name,
        title,
        unit,
        scale,
    }
}

fn indicator(
    id: &'static str,
    title: &'static str,
    unit: &'static str,
    direction: Direction,
) -> Indicator {
    Indicator {
        id,
        title,
        unit,
        direction,
    }
}
