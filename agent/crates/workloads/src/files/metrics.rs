//! What a task with files yields, all of it from the packets at the client's side of the link.

use pentathlon_protocol::catalog::{Direction, Metric};

/// A task without losses, and one in which every exchange carries content.
pub const MAY_BE_ZERO: &[&str] = &["metadata", "retransmitted"];

/// What the task took, and what it could have taken.
pub const CONTEXT: &[&str] = &[
    "least_time",
    "round_trips",
    "exchanges",
    "turns",
    "metadata",
    "response_time",
    "retransmitted",
    "wire_bytes",
    "packets",
    "window",
    "link_round_trip",
    "program_time",
];

pub fn metrics() -> Vec<Metric> {
    use Direction::{Higher, Lower};
    [
        ("task_time", "Task time", "s", Lower),
        ("throughput", "Throughput of file content", "Mbit/s", Higher),
        (
            "least_time",
            "Least time: bytes over rate, and round trips",
            "s",
            Lower,
        ),
        (
            "round_trips",
            "Round trips one after another",
            "count",
            Lower,
        ),
        ("exchanges", "Questions and answers", "count", Lower),
        ("turns", "Exchanges one after another", "count", Lower),
        (
            "metadata",
            "Exchanges that carry no content",
            "count",
            Lower,
        ),
        (
            "response_time",
            "Response time, mean, with the link's round trip",
            "ms",
            Lower,
        ),
        (
            "retransmitted",
            "Packets that were sent again",
            "count",
            Lower,
        ),
        (
            "wire_bytes",
            "Bytes on the link, both directions",
            "B",
            Lower,
        ),
        ("packets", "Packets, both directions", "count", Lower),
        (
            "window",
            "Largest receive window of the client",
            "B",
            Higher,
        ),
        (
            "link_round_trip",
            "Shortest round trip that the client saw",
            "ms",
            Lower,
        ),
        (
            "program_time",
            "Time of the client's program by its host's clock",
            "s",
            Lower,
        ),
    ]
    .into_iter()
    .map(|(id, title, unit, direction)| Metric::new(id, title, unit, direction))
    .collect()
}
