//! The parameters of `network.traffic`.

use pentathlon_protocol::catalog::{parameter, Parameter, Type};
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
    vec![
        Parameter {
            choices: Some(vec!["udp", "tcp", "icmp", "sctp", "dccp"]),
            ..parameter(
                "protocols",
                Type::Texts,
                json!(["udp", "tcp"]),
                None,
                None,
                "protocols; `icmp` sends echo requests, which the receiver's kernel answers",
            )
        },
        parameter(
            "ip_versions",
            Type::Integers,
            json!([4, 6]),
            None,
            Some((4.0, 6.0)),
            "versions of the Internet Protocol, 4 and 6",
        ),
        parameter(
            "size_bytes",
            Type::Integers,
            json!(SIZES),
            Some("B"),
            Some((18.0, 65_507.0)),
            "lengths of the packets' payload; 18 B of UDP over IPv4 are a frame of 64 B, and below \
             32 B only UDP and ICMP go",
        ),
        parameter(
            "size",
            Type::Text,
            json!(""),
            Some("B"),
            None,
            "distribution of the payload's length instead of `size_bytes`, such as `imix` or \
             `normal 700 200`; lengths below the header are raised to it: 18 B with UDP and \
             ICMP, else 32 B",
        ),
        parameter(
            "packet_rate",
            Type::Text,
            json!("uniform 30000 300000"),
            Some("1/s"),
            None,
            "distribution of the packet rate: `constant V`, `uniform MIN MAX`, `gamma SHAPE SCALE`, \
             ...; `constant 0` sends as fast as the system takes packets. See rate_interval_ms for \
             the mean",
        ),
        parameter(
            "rate_interval_ms",
            Type::Integer,
            json!(0),
            Some("ms"),
            Some((0.0, 3_600_000.0)),
            "for how long a rate drawn from `packet_rate` holds: the mean rate of the flow is then the \
             distribution's arithmetic mean. 0: each packet has its own rate, whose inverse is the \
             time to the next packet, and the mean rate is the harmonic mean",
        ),
        parameter(
            "gap",
            Type::Text,
            json!(""),
            Some("s"),
            None,
            "distribution of the time between packets instead of `packet_rate`, such as \
             `exponential 0.001`, `uniform 1/300000 1/30000`, `poisson 5 ms` or `trace 0.01 0.02`",
        ),
        Parameter {
            minimum: Some(0.0),
            ..parameter(
                "bit_rate",
                Type::Number,
                json!(0.0),
                Some("bit/s"),
                None,
                "constant rate of payload instead of `packet_rate`, for packets of one size; 0: \
                 the packet rate holds",
            )
        },
        parameter(
            "on",
            Type::Text,
            json!(""),
            Some("s"),
            None,
            "distribution of the periods with packets; needs `off`",
        ),
        parameter(
            "off",
            Type::Text,
            json!(""),
            Some("s"),
            None,
            "distribution of the pauses between such periods",
        ),
        Parameter {
            choices: Some(PROFILES.to_vec()),
            ..parameter(
                "profiles",
                Type::Texts,
                json!([]),
                None,
                None,
                "applications whose traffic is sent, instead of protocols, sizes and rates",
            )
        },
        parameter(
            "script",
            Type::Texts,
            json!([]),
            None,
            None,
            "flows that run together, each as `key=value; ...` (docs/network.md), instead of all \
             that",
        ),
        parameter(
            "flows",
            Type::Integer,
            json!(1),
            None,
            Some((1.0, 64.0)),
            "equal flows at once, each with its own random numbers",
        ),
        parameter(
            "both_ways",
            Type::Boolean,
            json!(false),
            None,
            None,
            "each flow has a twin in the other direction",
        ),
        parameter(
            "echo",
            Type::Boolean,
            json!(true),
            None,
            None,
            "the receiver sends every packet back, which yields round-trip times",
        ),
        Parameter {
            choices: Some(vec![
                "best", "send", "sendmmsg", "gso", "packet", "afxdp", "live", "pktgen",
            ]),
            ..parameter(
                "transmit_backend",
                Type::Texts,
                json!(["send"]),
                None,
                None,
                "how packets are handed to the system; each measures another layer; `best`: the \
                 first that works of live, packet, sendmmsg and send",
            )
        },
        Parameter {
            choices: Some(vec!["blocking", "spinning", "ring", "afxdp", "xdp"]),
            ..parameter(
                "receiver",
                Type::Text,
                json!("blocking"),
                None,
                None,
                "whether the receiver sleeps until a packet comes, asks again and again, or sees \
                 frames at the interface and sends nothing back: by a packet ring (`ring`), by an \
                 AF_XDP socket (`afxdp`), or in a program (`xdp`); with transmit backends other than `send` \
                 the first two take many packets at once",
            )
        },
        parameter(
            "duration_s",
            Type::Number,
            json!(5.0),
            Some("s"),
            Some((0.05, 3600.0)),
            "length of a trial; the study takes 60 s",
        ),
        parameter(
            "lateness_limit_ms",
            Type::Number,
            json!(0.0),
            Some("ms"),
            Some((0.0, 60_000.0)),
            "a trial is invalid if more than 1 % of its packets leave later than this; 0: 1 % \
                 of the flow's length, but at least 10 ms and at most 50 ms",
        ),
        parameter(
            "least_sent_percent",
            Type::Number,
            json!(50.0),
            Some("%"),
            Some((0.0, 100.0)),
            "a trial is invalid if less than this share of the packets that were due was sent, \
                 however wide the other limits are; for streams, and for 0, if nothing was sent",
        ),
        parameter(
            "fit_limit",
            Type::Number,
            json!(1.0),
            None,
            Some((0.0, 1.0)),
            "a trial is invalid if the times between its packets are further than this from \
                 the requested distribution (Kolmogorov's distance); 1: any, the distance is reported",
        ),
        parameter(
            "multicast",
            Type::Integer,
            json!(0),
            None,
            Some((0.0, 64.0)),
            "send each flow to a multicast group with so many receivers on the other host; 0: \
                 to the host alone",
        ),
        parameter(
            "kernel_times",
            Type::Boolean,
            json!(false),
            None,
            None,
            "write down the kernel's times of each packet of UDP too (SO_TIMESTAMPING)",
        ),
        Parameter {
            choices: Some(vec!["none", "idle", "other"]),
            ..parameter(
                "cpu_hog",
                Type::Text,
                json!("none"),
                None,
                None,
                "computation beside the flows on every CPU of both hosts, whose speed measures what \
                 is left for programs: scheduled as `idle` or as any `other` program",
            )
        },
        Parameter {
            choices: Some(vec!["small", "always", "never"]),
            ..parameter(
                "keep",
                Type::Text,
                json!("small"),
                None,
                None,
                "whether the packets of each trial are kept in the result: those of trials up to \
                 200,000 packets, of all, of none",
            )
        },
    ]
}
