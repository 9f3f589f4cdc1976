//! `network.traffic`: one flow of packets from one host to another.

use crate::catalog::{self, Direction, Factor, Indicator, Parameter, Semantics, Type};
use crate::measure::{Context, Failure};
use serde_json::json;

pub struct Traffic;

/// 13 sizes from 64 to 1536 bytes, as martinovic2012, section 6.4.
const SIZES: [u64; 13] = [
    64, 128, 256, 384, 512, 640, 768, 896, 1024, 1152, 1280, 1408, 1536,
];

impl crate::workloads::Workload for Traffic {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "network.traffic",
            area: "network",
            title: "Traffic between two hosts",
            summary: "One flow of packets, sent open-loop by one host, received and sent back by \
                      the other. Both ends write down every packet; loss, delay, jitter and rates \
                      are computed from both records.",
            source: "martinovic2012 §6.4, Fig. 8 to 15; vdovjak2021 §4.2, Fig. 2 and 3",
            parameters: parameters(),
            factors: vec![
                factor("protocol", "protocol", None, "category"),
                factor("ip_version", "IP version", None, "category"),
                factor("size_bytes", "packet size", Some("B"), "linear"),
                factor("rung", "sent by", None, "category"),
            ],
            indicators: vec![
                indicator("throughput", "Throughput", "kbit/s", Direction::Higher),
                indicator("packet_rate", "Packets sent", "1/s", Direction::Higher),
                indicator("delivered", "Packets delivered", "%", Direction::Higher),
                indicator("delay", "One-way delay, mean", "ms", Direction::Lower),
                indicator("delay_p99", "One-way delay, 99 %", "ms", Direction::Lower),
                indicator(
                    "round_trip",
                    "Round-trip time, mean",
                    "ms",
                    Direction::Lower,
                ),
                indicator("jitter", "Jitter (RFC 3550), mean", "ms", Direction::Lower),
                indicator("ditg_jitter", "Mean |ΔD| (D-ITG)", "ms", Direction::Lower),
                indicator("cpu_sender", "CPU busy, sender", "%", Direction::Lower),
                indicator("cpu_receiver", "CPU busy, receiver", "%", Direction::Lower),
            ],
            checksum: "1: every packet that counts carried the session's id and an unharmed header",
            semantics: Semantics {
                linux: "send(2) and recv(2) on ordinary sockets, TCP with TCP_NODELAY; other \
                        rungs of the ladder by the interfaces that they name",
                windows: "send and recv on ordinary sockets, TCP with TCP_NODELAY",
            },
            test_only: false,
        }
    }

    fn hosts(&self) -> u8 {
        2
    }

    fn run(&self, _: &mut Context<'_>) -> Result<(), Failure> {
        Err(Failure::Unsupported(
            "this workload needs two hosts: give the system a [system.peer]".into(),
        ))
    }
}

fn parameters() -> Vec<Parameter> {
    let plain = |name, kind, default, unit, description| Parameter {
        name,
        kind,
        default,
        unit,
        minimum: None,
        maximum: None,
        choices: None,
        description,
    };
    vec![
        Parameter {
            choices: Some(vec!["udp", "tcp"]),
            ..plain(
                "protocols",
                Type::Texts,
                json!(["udp", "tcp"]),
                None,
                "transport protocols",
            )
        },
        Parameter {
            minimum: Some(4.0),
            maximum: Some(6.0),
            ..plain(
                "ip_versions",
                Type::Integers,
                json!([4, 6]),
                None,
                "versions of the Internet Protocol, 4 and 6",
            )
        },
        Parameter {
            minimum: Some(32.0),
            maximum: Some(65_507.0),
            ..plain(
                "size_bytes",
                Type::Integers,
                json!(SIZES),
                Some("B"),
                "lengths of the packets' payload",
            )
        },
        plain(
            "packet_rate",
            Type::Text,
            json!("uniform 30000 300000"),
            Some("1/s"),
            "distribution of the packet rate, whose inverse is the time to the next packet: \
             `constant V`, `uniform MIN MAX`, `exponential MEAN`, ...; `constant 0` sends as fast \
             as the system takes packets",
        ),
        Parameter {
            choices: Some(vec!["send", "sendmmsg", "gso", "packet", "live"]),
            ..plain(
                "rung",
                Type::Texts,
                json!(["send"]),
                None,
                "how packets are handed to the system; each measures another layer",
            )
        },
        Parameter {
            choices: Some(vec!["blocking", "spinning", "xdp"]),
            ..plain(
                "receiver",
                Type::Text,
                json!("blocking"),
                None,
                "whether the receiver sleeps until a packet comes, asks again and again, or is a \
                 program at the interface (`xdp`, which sends nothing back); with rungs other \
                 than `send` it takes many packets at once",
            )
        },
        Parameter {
            minimum: Some(0.05),
            maximum: Some(3600.0),
            ..plain(
                "duration_s",
                Type::Number,
                json!(5.0),
                Some("s"),
                "length of a trial; the study takes 60 s",
            )
        },
        Parameter {
            minimum: Some(0.001),
            maximum: Some(60_000.0),
            ..plain(
                "lateness_limit_ms",
                Type::Number,
                json!(10.0),
                Some("ms"),
                "a trial is invalid if more than 1 % of its packets leave later than this",
            )
        },
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
