//! What a task with files yields, all of it from the packets at the client's side of the link.

use pentathlon_protocol::catalog::Metric;

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
    vec![
        Metric::lower("task_time", "Task time", "s"),
        Metric::higher("throughput", "Throughput of file content", "Mbit/s"),
        Metric::lower(
            "least_time",
            "Least time: bytes over rate, and round trips",
            "s",
        ),
        Metric::lower("round_trips", "Round trips one after another", "count"),
        Metric::lower("exchanges", "Questions and answers", "count"),
        Metric::lower("turns", "Exchanges one after another", "count"),
        Metric::lower("metadata", "Exchanges that carry no content", "count"),
        Metric::lower(
            "response_time",
            "Response time, mean, with the link's round trip",
            "ms",
        ),
        Metric::lower("retransmitted", "Packets that were sent again", "count"),
        Metric::lower("wire_bytes", "Bytes on the link, both directions", "B"),
        Metric::lower("packets", "Packets, both directions", "count"),
        Metric::higher("window", "Largest receive window of the client", "B"),
        Metric::lower(
            "link_round_trip",
            "Shortest round trip that the client saw",
            "ms",
        ),
        Metric::lower(
            "program_time",
            "Time of the client's program by its host's clock",
            "s",
        ),
    ]
}
