//! What `network.traffic` yields, by the names of the standards that define it.

use crate::catalog::{Direction, Indicator};

const INDICATORS: [(&str, &str, &str, Direction); 52] = [
    (
        "throughput",
        "Throughput (goodput, RFC 2647)",
        "kbit/s",
        Direction::Higher,
    ),
    ("packet_rate", "Packets sent", "1/s", Direction::Higher),
    ("delivered", "Packets delivered", "%", Direction::Higher),
    ("lost", "One-way loss (RFC 7680)", "%", Direction::Lower),
    (
        "duplicated",
        "Duplication (RFC 5560)",
        "%",
        Direction::Lower,
    ),
    ("reordered", "Reordering (RFC 4737)", "%", Direction::Lower),
    (
        "reordering_extent",
        "Extent of reordering (RFC 4737), mean",
        "packets",
        Direction::Lower,
    ),
    (
        "reordered_3",
        "3-reordering (RFC 4737)",
        "%",
        Direction::Lower,
    ),
    (
        "delay",
        "One-way delay (RFC 7679), mean",
        "ms",
        Direction::Lower,
    ),
    (
        "delay_bound",
        "Error bound of the one-way delay",
        "ms",
        Direction::Lower,
    ),
    ("delay_p50", "One-way delay, 50 %", "ms", Direction::Lower),
    ("delay_p90", "One-way delay, 90 %", "ms", Direction::Lower),
    ("delay_p99", "One-way delay, 99 %", "ms", Direction::Lower),
    (
        "delay_p999",
        "One-way delay, 99.9 %",
        "ms",
        Direction::Lower,
    ),
    (
        "delay_p9999",
        "One-way delay, 99.99 %",
        "ms",
        Direction::Lower,
    ),
    (
        "round_trip",
        "Round-trip time (RFC 2681), mean",
        "ms",
        Direction::Lower,
    ),
    (
        "round_trip_p50",
        "Round-trip time, 50 %",
        "ms",
        Direction::Lower,
    ),
    (
        "round_trip_p90",
        "Round-trip time, 90 %",
        "ms",
        Direction::Lower,
    ),
    (
        "round_trip_p99",
        "Round-trip time, 99 %",
        "ms",
        Direction::Lower,
    ),
    (
        "round_trip_p999",
        "Round-trip time, 99.9 %",
        "ms",
        Direction::Lower,
    ),
    (
        "round_trip_p9999",
        "Round-trip time, 99.99 %",
        "ms",
        Direction::Lower,
    ),
    (
        "kernel_delay",
        "One-way delay from kernel to kernel, mean",
        "ms",
        Direction::Lower,
    ),
    (
        "kernel_delay_p50",
        "One-way delay from kernel to kernel, 50 %",
        "ms",
        Direction::Lower,
    ),
    (
        "kernel_delay_p99",
        "One-way delay from kernel to kernel, 99 %",
        "ms",
        Direction::Lower,
    ),
    (
        "send_wait",
        "From the program to the device, by the kernel's clock, mean",
        "ms",
        Direction::Lower,
    ),
    (
        "send_wait_p50",
        "From the program to the device, by the kernel's clock, 50 %",
        "ms",
        Direction::Lower,
    ),
    (
        "send_wait_p99",
        "From the program to the device, by the kernel's clock, 99 %",
        "ms",
        Direction::Lower,
    ),
    (
        "receive_wait",
        "From the stack to the program, by the kernel's clock, mean",
        "ms",
        Direction::Lower,
    ),
    (
        "receive_wait_p50",
        "From the stack to the program, by the kernel's clock, 50 %",
        "ms",
        Direction::Lower,
    ),
    (
        "receive_wait_p99",
        "From the stack to the program, by the kernel's clock, 99 %",
        "ms",
        Direction::Lower,
    ),
    ("ipdv", "Mean |IPDV| (RFC 3393)", "ms", Direction::Lower),
    ("pdv_p999", "PDV, 99.9 % (RFC 5481)", "ms", Direction::Lower),
    ("jitter", "Jitter (RFC 3550), mean", "ms", Direction::Lower),
    ("ditg_jitter", "Mean |ΔD| (D-ITG)", "ms", Direction::Lower),
    (
        "tcp_efficiency",
        "TCP efficiency (RFC 6349)",
        "%",
        Direction::Higher,
    ),
    (
        "buffer_delay",
        "Buffer delay (RFC 6349)",
        "%",
        Direction::Lower,
    ),
    ("cpu_sender", "CPU busy, sender", "%", Direction::Lower),
    ("cpu_receiver", "CPU busy, receiver", "%", Direction::Lower),
    (
        "cpu_irq_sender",
        "CPU in interrupts, sender",
        "%",
        Direction::Lower,
    ),
    (
        "cpu_irq_receiver",
        "CPU in interrupts, receiver",
        "%",
        Direction::Lower,
    ),
    (
        "cpu_softirq_sender",
        "CPU in softirqs, sender",
        "%",
        Direction::Lower,
    ),
    (
        "cpu_softirq_receiver",
        "CPU in softirqs, receiver",
        "%",
        Direction::Lower,
    ),
    (
        "cpu_steal_sender",
        "CPU stolen by the hypervisor, sender",
        "%",
        Direction::Lower,
    ),
    (
        "cpu_steal_receiver",
        "CPU stolen by the hypervisor, receiver",
        "%",
        Direction::Lower,
    ),
    (
        "cpu_available_sender",
        "CPU available to a program, sender",
        "%",
        Direction::Higher,
    ),
    (
        "cpu_available_receiver",
        "CPU available to a program, receiver",
        "%",
        Direction::Higher,
    ),
    (
        "packet_cpu_sender",
        "CPU time per packet, sender's process",
        "us",
        Direction::Lower,
    ),
    (
        "packet_cpu_receiver",
        "CPU time per packet, receiver's process",
        "us",
        Direction::Lower,
    ),
    (
        "interrupts_sender",
        "Interrupts, sender",
        "1/s",
        Direction::Lower,
    ),
    (
        "interrupts_receiver",
        "Interrupts, receiver",
        "1/s",
        Direction::Lower,
    ),
    (
        "softirqs_sender",
        "Network softirqs, sender",
        "1/s",
        Direction::Lower,
    ),
    (
        "softirqs_receiver",
        "Network softirqs, receiver",
        "1/s",
        Direction::Lower,
    ),
];

/// Nothing lost, nothing interrupted: these may rightly be zero.
pub const MAY_BE_ZERO: &[&str] = &[
    "delivered",
    "lost",
    "duplicated",
    "reordered",
    "reordered_3",
    "ipdv",
    "pdv_p999",
    "buffer_delay",
    "cpu_sender",
    "cpu_receiver",
    "cpu_irq_sender",
    "cpu_irq_receiver",
    "cpu_softirq_sender",
    "cpu_softirq_receiver",
    "cpu_steal_sender",
    "cpu_steal_receiver",
    "cpu_available_sender",
    "cpu_available_receiver",
    "packet_cpu_sender",
    "packet_cpu_receiver",
    "interrupts_sender",
    "interrupts_receiver",
    "softirqs_sender",
    "softirqs_receiver",
];

/// What the traffic took of the hosts, and how well their clocks are known: no score.
pub const CONTEXT: &[&str] = &[
    "delay_bound",
    "cpu_sender",
    "cpu_receiver",
    "packet_cpu_sender",
    "packet_cpu_receiver",
    "interrupts_sender",
    "interrupts_receiver",
    "softirqs_sender",
    "softirqs_receiver",
];

pub fn indicators() -> Vec<Indicator> {
    INDICATORS
        .iter()
        .map(|&(id, title, unit, direction)| Indicator {
            id,
            title,
            unit,
            direction,
        })
        .collect()
}
