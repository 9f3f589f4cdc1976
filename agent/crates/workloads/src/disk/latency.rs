//! Latencies as histograms, and what is derived from them.

use pentathlon_harness::measure::{self, Distribution, Outcome, Reading};
use pentathlon_protocol::catalog::{Direction, Histogram, Metric};

/// A histogram of times; the median is the workload's metric `latency`.
pub const fn histogram(title: &'static str) -> Histogram {
    Histogram {
        id: "latencies",
        title,
        unit: "ns",
        direction: Direction::Lower,
        quantiles: &[
            ("latency", 0.5),
            ("latency_p99", 0.99),
            ("latency_p999", 0.999),
            ("latency_maximum", 1.0),
        ],
    }
}

/// A rate, and the latencies of what it counts.
pub fn outcomes(rate: Reading, of: Histogram, values: measure::Histogram) -> Vec<Outcome> {
    let latencies = Distribution {
        of,
        case: rate.case.clone(),
        values,
        elapsed_ns: rate.elapsed_ns,
        checksum: rate.checksum,
    };
    vec![rate.into(), latencies.into()]
}

/// The metrics that a histogram of latencies names.
pub fn metrics() -> impl Iterator<Item = Metric> {
    [
        ("latency", "Latency, median"),
        ("latency_p99", "Latency, 99th percentile"),
        ("latency_p999", "Latency, 99.9th percentile"),
        ("latency_maximum", "Latency, maximum"),
    ]
    .into_iter()
    .map(|(id, title)| Metric::lower(id, title, "ns"))
}
