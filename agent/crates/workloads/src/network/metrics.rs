//! What `network.traffic` yields, by the names of the standards that define it.

use pentathlon_protocol::catalog::{Direction, Metric};
use Direction::{Higher, Lower};

type Line = (&'static str, &'static str, &'static str, Direction);

/// A delay: its mean, with the standard that defines it, and its quantiles, ms.
macro_rules! delay {
    ($id:literal, $title:literal, $standard:literal, $($tail:literal: $share:literal),+) => {
        [
            ($id, concat!($title, $standard, ", mean"), "ms", Lower),
            $((concat!($id, "_", $tail), concat!($title, ", ", $share, " %"), "ms", Lower)),+
        ]
    };
}

/// The same of both hosts.
macro_rules! ends {
    ($id:literal, $title:literal, $unit:literal, $direction:expr) => {
        [
            (
                concat!($id, "_sender"),
                concat!($title, ", sender"),
                $unit,
                $direction,
            ),
            (
                concat!($id, "_receiver"),
                concat!($title, ", receiver"),
                $unit,
                $direction,
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

const COUNTS: [Line; 9] = [
    (
        "throughput",
        "Throughput (goodput, RFC 2647)",
        "kbit/s",
        Higher,
    ),
    ("packet_rate", "Packets sent", "1/s", Higher),
    ("delivered", "Packets delivered", "%", Higher),
    ("lost", "One-way loss (RFC 7680)", "%", Lower),
    ("duplicated", "Duplication (RFC 5560)", "%", Lower),
    ("reordered", "Reordering (RFC 4737)", "%", Lower),
    (
        "reordering_extent",
        "Extent of reordering (RFC 4737), mean",
        "packets",
        Lower,
    ),
    ("reordered_3", "3-reordering (RFC 4737)", "%", Lower),
    (
        "delay_bound",
        "Error bound of the one-way delay",
        "ms",
        Lower,
    ),
];

const VARIATIONS: [Line; 6] = [
    ("ipdv", "Mean |IPDV| (RFC 3393)", "ms", Lower),
    ("pdv_p999", "PDV, 99.9 % (RFC 5481)", "ms", Lower),
    ("jitter", "Jitter (RFC 3550), mean", "ms", Lower),
    ("ditg_jitter", "Mean |ΔD| (D-ITG)", "ms", Lower),
    ("tcp_efficiency", "TCP efficiency (RFC 6349)", "%", Higher),
    ("buffer_delay", "Buffer delay (RFC 6349)", "%", Lower),
];

/// Of both hosts, where they share a kernel: it does not say which of them had its time.
const MACHINE: [Line; 1] = [(
    "packet_busy_both",
    "Busy time of all CPUs per packet, both hosts",
    "us",
    Lower,
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
        ends!("cpu", "CPU busy", "%", Lower),
        ends!("cpu_irq", "CPU in interrupts", "%", Lower),
        ends!("cpu_softirq", "CPU in softirqs", "%", Lower),
        ends!("cpu_steal", "CPU stolen by the hypervisor", "%", Lower),
        ends!("cpu_available", "CPU available to a program", "%", Higher),
        ends!(
            "packet_cpu",
            "CPU time of the agent per packet",
            "us",
            Lower
        ),
        ends!(
            "packet_busy",
            "Busy time of all CPUs per packet",
            "us",
            Lower
        ),
        ends!("interrupts", "Interrupts", "1/s", Lower),
        ends!("softirqs", "Network softirqs", "1/s", Lower),
    ];
    let lines = [
        &COUNTS[..],
        delays.as_flattened(),
        kernels.as_flattened(),
        &VARIATIONS,
        &MACHINE,
        hosts.as_flattened(),
    ];
    lines
        .concat()
        .into_iter()
        .map(|(id, title, unit, direction)| Metric::new(id, title, unit, direction))
        .collect()
}
