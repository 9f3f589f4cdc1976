//! The parameters of `network.traffic`.

use pentathlon_protocol::catalog::Parameter;

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
        Parameter::texts("protocols", &["udp", "tcp"])
            .choices(&["udp", "tcp", "icmp", "sctp", "dccp"])
            .described(
                "protocols; `icmp` sends echo requests, which the receiver's kernel answers",
            ),
        Parameter::integers("ip_versions", &[4, 6])
            .limits(4.0, 6.0)
            .described("versions of the Internet Protocol, 4 and 6"),
        Parameter::integers("size_bytes", &SIZES)
            .unit("B")
            .limits(18.0, 65_507.0)
            .described(
                "lengths of the packets' payload; 18 B of UDP over IPv4 are a frame of 64 B, and \
                 below 32 B only UDP and ICMP go",
            ),
        Parameter::text("size", "")
            .unit("B")
            .described(
                "distribution of the payload's length instead of `size_bytes`, such as `imix` or \
                 `normal 700 200`; lengths below the header are raised to it: 18 B with UDP and \
                 ICMP, else 32 B",
            ),
        Parameter::text("packet_rate", "uniform 30000 300000")
            .unit("1/s")
            .described(
                "distribution of the packet rate: `constant V`, `uniform MIN MAX`, `gamma SHAPE \
                 SCALE`, ...; `constant 0` sends as fast as the system takes packets. See \
                 rate_interval_ms for the mean",
            ),
        Parameter::integer("rate_interval_ms", 0)
            .unit("ms")
            .limits(0.0, 3_600_000.0)
            .described(
                "for how long a rate drawn from `packet_rate` holds: the mean rate of the flow is \
                 then the distribution's arithmetic mean. 0: each packet has its own rate, whose \
                 inverse is the time to the next packet, and the mean rate is the harmonic mean",
            ),
        Parameter::text("gap", "")
            .unit("s")
            .described(
                "distribution of the time between packets instead of `packet_rate`, such as \
                 `exponential 0.001`, `uniform 1/300000 1/30000`, `poisson 5 ms` or `trace 0.01 \
                 0.02`",
            ),
        Parameter {
            minimum: Some(0.0),
            ..Parameter::number("bit_rate", 0.0)
                .unit("bit/s")
                .described(
                    "constant rate of payload instead of `packet_rate`, for packets of one size; \
                     0: the packet rate holds",
                )
        },
        Parameter::text("on", "")
            .unit("s")
            .described("distribution of the periods with packets; needs `off`"),
        Parameter::text("off", "")
            .unit("s")
            .described("distribution of the pauses between such periods"),
        Parameter::texts("profiles", &[])
            .choices(&PROFILES)
            .described("applications whose traffic is sent, instead of protocols, sizes and rates"),
        Parameter::texts("script", &[])
            .described(
                "flows that run together, each as `key=value; ...` (docs/network.md), instead of \
                 all that",
            ),
        Parameter::integer("flows", 1)
            .limits(1.0, 64.0)
            .described("equal flows at once, each with its own random numbers"),
        Parameter::boolean("both_ways", false)
            .described("each flow has a twin in the other direction"),
        Parameter::boolean("echo", true)
            .described("the receiver sends every packet back, which yields round-trip times"),
        Parameter::texts("transmit_backend", &["send"])
            .choices(&[
                "best", "send", "sendmmsg", "gso", "packet", "afxdp", "live", "pktgen",
            ])
            .described(
                "how packets are handed to the system; each measures another layer; `best`: the \
                 first that works of live, packet, sendmmsg and send",
            ),
        Parameter::text("receiver", "blocking")
            .choices(&["blocking", "spinning", "ring", "afxdp", "xdp"])
            .described(
                "whether the receiver sleeps until a packet comes, asks again and again, or sees \
                 frames at the interface and sends nothing back: by a packet ring (`ring`), by an \
                 AF_XDP socket (`afxdp`), or in a program (`xdp`); with transmit backends other \
                 than `send` the first two take many packets at once",
            ),
        Parameter::number("duration_s", 5.0)
            .unit("s")
            .limits(0.05, 3600.0)
            .described("length of a trial; the study takes 60 s"),
        Parameter::number("lateness_limit_ms", 0.0)
            .unit("ms")
            .limits(0.0, 60_000.0)
            .described(
                "a trial is invalid if more than 1 % of its packets leave later than this; 0: 1 % \
                 of the flow's length, but at least 10 ms and at most 50 ms",
            ),
        Parameter::number("least_sent_percent", 50.0)
            .unit("%")
            .limits(0.0, 100.0)
            .described(
                "a trial is invalid if less than this share of the packets that were due was sent, \
                 however wide the other limits are; for streams, and for 0, if nothing was sent",
            ),
        Parameter::number("fit_limit", 1.0)
            .limits(0.0, 1.0)
            .described(
                "a trial is invalid if the times between its packets are further than this from \
                 the requested distribution (Kolmogorov's distance); 1: any, the distance is \
                 reported",
            ),
        Parameter::integer("multicast", 0)
            .limits(0.0, 64.0)
            .described(
                "send each flow to a multicast group with so many receivers on the other host; 0: \
                 to the host alone",
            ),
        Parameter::boolean("kernel_times", false)
            .described("write down the kernel's times of each packet of UDP too (SO_TIMESTAMPING)"),
        Parameter::text("cpu_hog", "none")
            .choices(&["none", "idle", "other"])
            .described(
                "computation beside the flows on every CPU of both hosts, whose speed measures \
                 what is left for programs: scheduled as `idle` or as any `other` program",
            ),
        Parameter::text("keep", "small")
            .choices(&["small", "always", "never"])
            .described(
                "whether the packets of each trial are kept in the result: those of trials up to \
                 200,000 packets, of all, of none",
            ),
    ]
}
