//! What `network.traffic` yields, by the names of the standards that define it.

use pentathlon_protocol::catalog::Metric;

/// A delay: its mean, with the standard that defines it, and its quantiles, ms.
macro_rules! delay {
    ($id:literal, $title:literal, $standard:literal, $($tail:literal: $share:literal),+) => {
        [
            Metric::lower($id, concat!($title, $standard, ", mean"), "ms"),
            $(Metric::lower(concat!($id, "_", $tail), concat!($title, ", ", $share, " %"), "ms")),+
        ]
    };
}

/// The same of both hosts, of which `$better` is better.
macro_rules! ends {
    ($better:ident, $id:literal, $title:literal, $unit:literal) => {
        [
            Metric::$better(concat!($id, "_sender"), concat!($title, ", sender"), $unit),
            Metric::$better(
                concat!($id, "_receiver"),
                concat!($title, ", receiver"),
                $unit,
            ),
        ]
    };
}

/// Names of metrics: of flows, and of both hosts.
macro_rules! marks {
    ([$($flow:literal),*], [$($host:literal),*]) => {
        &[$($flow,)* $(concat!($host, "_sender"), concat!($host, "_receiver")),*]
    };
}

const COUNTS: [Metric; 9] = [
    Metric::higher("throughput", "Throughput (goodput, RFC 2647)", "kbit/s"),
    Metric::higher("packet_rate", "Packets sent", "1/s"),
    Metric::higher("delivered", "Packets delivered", "%"),
    Metric::lower("lost", "One-way loss (RFC 7680)", "%"),
    Metric::lower("duplicated", "Duplication (RFC 5560)", "%"),
    Metric::lower("reordered", "Reordering (RFC 4737)", "%"),
    Metric::lower(
        "reordering_extent",
        "Extent of reordering (RFC 4737), mean",
        "packets",
    ),
    Metric::lower("reordered_3", "3-reordering (RFC 4737)", "%"),
    Metric::lower("delay_bound", "Error bound of the one-way delay", "ms"),
];

const VARIATIONS: [Metric; 6] = [
    Metric::lower("ipdv", "Mean |IPDV| (RFC 3393)", "ms"),
    Metric::lower("pdv_p999", "PDV, 99.9 % (RFC 5481)", "ms"),
    Metric::lower("jitter", "Jitter (RFC 3550), mean", "ms"),
    Metric::lower("ditg_jitter", "Mean |ΔD| (D-ITG)", "ms"),
    Metric::higher("tcp_efficiency", "TCP efficiency (RFC 6349)", "%"),
    Metric::lower("buffer_delay", "Buffer delay (RFC 6349)", "%"),
];

/// Of both hosts, where they share a kernel: it does not say which of them had its time.
const MACHINE: [Metric; 1] = [Metric::lower(
    "packet_busy_both",
    "Busy time of all CPUs per packet, both hosts",
    "us",
)];

/// Nothing lost, nothing interrupted: these may rightly be zero.
pub const MAY_BE_ZERO: &[&str] = marks!(
    [
        "delivered",
        "lost",
        "duplicated",
        "reordered",
        "reordered_3",
        "ipdv",
        "pdv_p999",
        "buffer_delay",
        "packet_busy_both"
    ],
    [
        "cpu",
        "cpu_irq",
        "cpu_softirq",
        "cpu_steal",
        "cpu_available",
        "packet_cpu",
        "packet_busy",
        "interrupts",
        "softirqs"
    ]
);

/// What the traffic took of the hosts, and how well their clocks are known: no score.
pub const CONTEXT: &[&str] = marks!(
    ["delay_bound", "packet_busy_both"],
    ["cpu", "packet_cpu", "packet_busy", "interrupts", "softirqs"]
);

pub fn metrics() -> Vec<Metric> {
    let delays = [
        delay!(
            "delay", "One-way delay", " (RFC 7679)",
            "p50": "50", "p90": "90", "p99": "99", "p999": "99.9", "p9999": "99.99"
        ),
        delay!(
            "round_trip", "Round-trip time", " (RFC 2681)",
            "p50": "50", "p90": "90", "p99": "99", "p999": "99.9", "p9999": "99.99"
        ),
    ];
    let kernels = [
        delay!("kernel_delay", "One-way delay from kernel to kernel", "", "p50": "50", "p99": "99"),
        delay!(
            "send_wait", "From the program to the device, by the kernel's clock", "",
            "p50": "50", "p99": "99"
        ),
        delay!(
            "receive_wait", "From the stack to the program, by the kernel's clock", "",
            "p50": "50", "p99": "99"
        ),
    ];
    let hosts = [
        ends!(lower, "cpu", "CPU busy", "%"),
        ends!(lower, "cpu_irq", "CPU in interrupts", "%"),
        ends!(lower, "cpu_softirq", "CPU in softirqs", "%"),
        ends!(lower, "cpu_steal", "CPU stolen by the hypervisor", "%"),
        ends!(higher, "cpu_available", "CPU available to a program", "%"),
        ends!(
            lower,
            "packet_cpu",
            "CPU time of the agent per packet",
            "us"
        ),
        ends!(
            lower,
            "packet_busy",
            "Busy time of all CPUs per packet",
            "us"
        ),
        ends!(lower, "interrupts", "Interrupts", "1/s"),
        ends!(lower, "softirqs", "Network softirqs", "1/s"),
    ];
    let lines = [
        &COUNTS[..],
        delays.as_flattened(),
        kernels.as_flattened(),
        &VARIATIONS,
        &MACHINE,
        hosts.as_flattened(),
    ];
    lines.concat()
}
