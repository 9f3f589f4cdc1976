//! What a host that forwards packets is measured by. Another host, the generator, sends through it
//! and receives at its other side; here stands what the catalog says of it.

mod ndr;
mod sweep;

use crate::catalog::{Direction, Indicator, Parameter, Type};
use crate::measure::Failure;
use serde_json::{json, Value};

pub const WORKLOADS: &[&dyn super::Workload] = &[&sweep::Sweep, &ndr::Ndr];

const SEMANTICS: crate::catalog::Semantics = crate::catalog::Semantics {
    linux: "the kernel forwards IPv4 between two interfaces (ip_forward)",
    windows: "not yet: the forwarder is Linux in a namespace or as a guest",
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
                Type::Integer,
                json!(1),
                None,
                "processes of the competitor at once",
            ),
        ),
        limits(
            0.0,
            19.0,
            plain(
                "nice",
                Type::Integer,
                json!(0),
                None,
                "nice value of the competitor",
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
        Parameter {
            choices: Some(vec!["send", "sendmmsg", "packet"]),
            ..plain(
                "rung",
                Type::Text,
                json!("send"),
                None,
                "how the generator hands packets to its system: one send(2) each, sendmmsg(2), or \
                 a packet socket past the queueing discipline; with the latter two, packets are \
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
