//! The parameters of `network.traffic`.

use crate::catalog::{Parameter, Type};
use serde_json::json;

/// 13 sizes from 64 to 1536 bytes, as martinovic2012, section 6.4.
const SIZES: [u64; 13] = [
    64, 128, 256, 384, 512, 640, 768, 896, 1024, 1152, 1280, 1408, 1536,
];

/// Applications that the experimenter knows (docs/network.md).
const PROFILES: [&str; 7] = [
    "telnet",
    "dns",
    "voip-g711",
    "voip-g729",
    "game",
    "video",
    "bulk",
];

pub fn parameters() -> Vec<Parameter> {
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
            choices: Some(vec!["udp", "tcp", "icmp", "sctp", "dccp"]),
            ..plain(
                "protocols",
                Type::Texts,
                json!(["udp", "tcp"]),
                None,
                "protocols; `icmp` sends echo requests, which the receiver's kernel answers",
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
            "size",
            Type::Text,
            json!(""),
            Some("B"),
            "distribution of the payload's length instead of `size_bytes`, such as `imix` or \
             `normal 700 200`; lengths below the header's 32 B are raised to it",
        ),
        plain(
            "packet_rate",
            Type::Text,
            json!("uniform 30000 300000"),
            Some("1/s"),
            "distribution of the packet rate, whose inverse is the time to the next packet: \
             `constant V`, `uniform MIN MAX`, `exponential MEAN`, ...; `constant 0` sends as fast \
             as the system takes packets",
        ),
        plain(
            "gap",
            Type::Text,
            json!(""),
            Some("s"),
            "distribution of the time between packets instead of `packet_rate`, such as \
             `exponential 0.001` or `trace 0.01 0.02`",
        ),
        Parameter {
            minimum: Some(0.0),
            ..plain(
                "bit_rate",
                Type::Number,
                json!(0.0),
                Some("bit/s"),
                "constant rate of payload instead of `packet_rate`, for packets of one size; 0: \
                 the packet rate holds",
            )
        },
        plain(
            "on",
            Type::Text,
            json!(""),
            Some("s"),
            "distribution of the periods with packets; needs `off`",
        ),
        plain(
            "off",
            Type::Text,
            json!(""),
            Some("s"),
            "distribution of the pauses between such periods",
        ),
        Parameter {
            choices: Some(PROFILES.to_vec()),
            ..plain(
                "profiles",
                Type::Texts,
                json!([]),
                None,
                "applications whose traffic is sent, instead of protocols, sizes and rates",
            )
        },
        plain(
            "script",
            Type::Texts,
            json!([]),
            None,
            "flows that run together, each as `key=value; ...` (docs/network.md), instead of all \
             that",
        ),
        Parameter {
            minimum: Some(1.0),
            maximum: Some(64.0),
            ..plain(
                "flows",
                Type::Integer,
                json!(1),
                None,
                "equal flows at once, each with its own random numbers",
            )
        },
        plain(
            "both_ways",
            Type::Boolean,
            json!(false),
            None,
            "each flow has a twin in the other direction",
        ),
        plain(
            "echo",
            Type::Boolean,
            json!(true),
            None,
            "the receiver sends every packet back, which yields round-trip times",
        ),
        Parameter {
            choices: Some(vec![
                "send", "sendmmsg", "gso", "packet", "afxdp", "live", "pktgen",
            ]),
            ..plain(
                "rung",
                Type::Texts,
                json!(["send"]),
                None,
                "how packets are handed to the system; each measures another layer",
            )
        },
        Parameter {
            choices: Some(vec!["blocking", "spinning", "ring", "afxdp", "xdp"]),
            ..plain(
                "receiver",
                Type::Text,
                json!("blocking"),
                None,
                "whether the receiver sleeps until a packet comes, asks again and again, or sees \
                 frames at the interface and sends nothing back: by a packet ring (`ring`), by an \
                 AF_XDP socket (`afxdp`), or in a program (`xdp`); with rungs other than `send` \
                 the first two take many packets at once",
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
            minimum: Some(0.0),
            maximum: Some(60_000.0),
            ..plain(
                "lateness_limit_ms",
                Type::Number,
                json!(0.0),
                Some("ms"),
                "a trial is invalid if more than 1 % of its packets leave later than this; 0: 1 % \
                 of the flow's length, but at least 10 ms and at most 50 ms",
            )
        },
        Parameter {
            minimum: Some(0.0),
            maximum: Some(1.0),
            ..plain(
                "fit_limit",
                Type::Number,
                json!(1.0),
                None,
                "a trial is invalid if the times between its packets are further than this from \
                 the asked distribution (Kolmogorov's distance); 1: any, the distance is told",
            )
        },
        Parameter {
            minimum: Some(0.0),
            maximum: Some(64.0),
            ..plain(
                "multicast",
                Type::Integer,
                json!(0),
                None,
                "send each flow to a multicast group with so many receivers on the other host; 0: \
                 to the host alone",
            )
        },
        plain(
            "kernel_times",
            Type::Boolean,
            json!(false),
            None,
            "write down the kernel's times of each packet of UDP too (SO_TIMESTAMPING)",
        ),
        Parameter {
            choices: Some(vec!["none", "idle", "other"]),
            ..plain(
                "soaker",
                Type::Text,
                json!("none"),
                None,
                "computation beside the flows on every CPU of both hosts, whose speed tells what \
                 is left for programs: scheduled as `idle` or as any `other` program",
            )
        },
        Parameter {
            choices: Some(vec!["small", "always", "never"]),
            ..plain(
                "keep",
                Type::Text,
                json!("small"),
                None,
                "whether the packets of each trial are kept in the result: those of trials up to \
                 200,000 packets, of all, of none",
            )
        },
    ]
}
