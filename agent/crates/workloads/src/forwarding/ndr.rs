//! `forwarding.ndr`: the highest rate that is forwarded without loss (RFC 2544, section 26.1).

use super::{common, frames, settings, SEMANTICS};
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter};

pub struct Ndr;

impl pentathlon_harness::BetweenHosts for Ndr {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "forwarding.ndr",
            title: "Forwarding rate without loss",
            summary:
                "Searches for the highest rate at which no packet is lost, and for the one at \
                      which no more than a given share is, by halving with repeated trials; then \
                      measures the round-trip time at 50, 90 and 100 % of the former.",
            source: "RFC 2544 §24 and §26.1 to 26.2; salah2010 §3.1",
            parameters: parameters(),
            factors: factors(),
            metrics: vec![
                Metric::higher("rate", "Highest rate that passes", "1/s"),
                Metric::higher("rate_above", "Lowest rate that fails", "1/s"),
                Metric::lower("round_trip", "Round-trip time, mean", "us"),
                Metric::lower("round_trip_median", "Round-trip time, median", "us"),
                Metric::lower("round_trip_p90", "Round-trip time, 90 %", "us"),
                Metric::lower("round_trip_p99", "Round-trip time, 99 %", "us"),
                Metric::lower("round_trip_p999", "Round-trip time, 99.9 %", "us"),
                Metric::lower("round_trip_p9999", "Round-trip time, 99.99 %", "us"),
            ],
            checksum: "1: every packet that counts carried the session's id and an unharmed header",
            semantics: SEMANTICS,
        }
    }

    fn timeout_s(&self) -> Option<f64> {
        Some(3600.0)
    }
}

fn parameters() -> Vec<Parameter> {
    let mut parameters = vec![
        // RFC 2544, section 9.1.
        frames(&[64, 128, 256, 512, 1024, 1280, 1518]),
        Parameter::number("highest_kpps", 400.0)
            .unit("1000/s")
            .limits(1.0, 20_000.0)
            .described("where the search begins, in thousands of packets per second"),
        Parameter::number("resolution_percent", 2.0)
            .unit("%")
            .limits(0.1, 50.0)
            .described(
                "the search ends when the rates that pass and fail are so close, of `highest_kpps`",
            ),
        Parameter::number("partial_percent", 0.5)
            .unit("%")
            .limits(0.0, 50.0)
            .described("loss that the partial-drop rate allows"),
        Parameter::integer("trials", 3)
            .limits(1.0, 20.0)
            .described("trials of a rate: it passes if most of them do"),
        Parameter::number("duration_s", 1.0)
            .unit("s")
            .limits(0.1, 3600.0)
            .described("length of a trial; RFC 2544 takes 60 s"),
    ];
    parameters.extend(common());
    parameters
}

fn factors() -> Vec<Factor> {
    let mut factors = vec![
        Factor::category("criterion", "criterion"),
        Factor::new("load_percent", "load", Some("%"), "linear"),
    ];
    factors.extend(settings());
    factors
}
