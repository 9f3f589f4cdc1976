//! `forwarding.sweep`: what becomes of packets, and of the forwarder's CPU, over offered load.

use super::{common, frames, settings, SEMANTICS};
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter};

pub struct Sweep;

/// salah2010 goes to 700 Kpps with a generator in the kernel; sockets do not.
const LOADS: [u64; 11] = [10, 25, 50, 75, 100, 150, 200, 250, 300, 350, 400];

impl pentathlon_harness::BetweenHosts for Sweep {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "forwarding.sweep",
            title: "IP forwarding over offered load",
            summary: "A generator sends packets through the system at a fixed rate and receives \
                      them at its other side, with or without a competitor for the system's CPU. \
                      The generator writes down every packet.",
            source: "salah2010 §2 and §3, Fig. 2 to 6",
            parameters: parameters(),
            factors: factors(),
            metrics: vec![
                Metric::higher("throughput", "Throughput", "1/s"),
                Metric::lower("lost", "Packets lost", "%"),
                Metric::lower("round_trip", "Round-trip time, mean", "us"),
                Metric::lower("round_trip_median", "Round-trip time, median", "us"),
                Metric::lower("round_trip_p90", "Round-trip time, 90 %", "us"),
                Metric::lower("round_trip_p99", "Round-trip time, 99 %", "us"),
                Metric::lower("round_trip_p999", "Round-trip time, 99.9 %", "us"),
                Metric::lower("round_trip_p9999", "Round-trip time, 99.99 %", "us"),
                Metric::lower("ping_round_trip", "ICMP echo time, mean", "us"),
                Metric::higher("cpu_available", "CPU available (CPU hog)", "%"),
                Metric::higher("cpu_idle", "CPU idle (/proc/stat)", "%"),
                Metric::lower("softirq_rate", "Receive soft interrupts", "1/s"),
                Metric::lower("interrupts_in", "Interrupts, receiving side", "1/s"),
                Metric::lower("interrupts_out", "Interrupts, sending side", "1/s"),
                Metric::higher("competitor_speed", "Competitor's speed", "%"),
                // RFC 2285, sections 3.5.1 and 3.5.2.
                Metric::higher("intended_load", "Intended load", "1/s"),
                Metric::higher("offered_load", "Offered load", "1/s"),
                Metric::lower("lateness_p99", "Generator's lateness, 99 %", "us"),
                Metric::lower("lateness_max", "Generator's lateness, largest", "us"),
                Metric::lower("receiver_lost", "Lost by the receiver itself", "%"),
                Metric::higher("knee", "Load of 100 %, by a short search", "1/s"),
            ],
            checksum: "1: every packet that counts carried the session's id and an unharmed header",
            semantics: SEMANTICS,
        }
    }

    fn may_be_zero(&self) -> &'static [&'static str] {
        &[
            "throughput",
            "lost",
            "cpu_available",
            "cpu_idle",
            "softirq_rate",
            "interrupts_in",
            "interrupts_out",
            "competitor_speed",
            "lateness_p99",
            "lateness_max",
            "receiver_lost",
        ]
    }

    /// What is left of the CPU is the study's own score by the CPU hog, not by /proc/stat. What
    /// the generator did is no score of the forwarder.
    fn context(&self) -> &'static [&'static str] {
        &[
            "cpu_idle",
            "softirq_rate",
            "interrupts_in",
            "interrupts_out",
            "intended_load",
            "offered_load",
            "lateness_p99",
            "lateness_max",
            "receiver_lost",
            "knee",
        ]
    }

    fn timeout_s(&self) -> Option<f64> {
        Some(3600.0)
    }
}

fn parameters() -> Vec<Parameter> {
    let mut parameters = vec![
        Parameter::integers("offered_kpps", &LOADS)
            .unit("1000/s")
            .limits(1.0, 20_000.0)
            .described("offered loads, in thousands of packets per second"),
        Parameter::text("loads", "listed")
            .choices(&["listed", "automatic"])
            .described(
                "`listed`: those of offered_kpps; `automatic`: shares of the highest load that the \
                 system forwards, which a short search finds first",
            ),
        Parameter::number("highest_kpps", 1000.0)
            .unit("1000/s")
            .limits(1.0, 20_000.0)
            .described(
                "where the search for the highest load begins, in thousands of packets per second",
            ),
        frames(&[64]),
        Parameter::number("duration_s", 5.0)
            .unit("s")
            .limits(0.2, 3600.0)
            .described("length of a trial; the study takes 30 s"),
        Parameter::number("lead_s", 2.0)
            .unit("s")
            .limits(0.0, 60.0)
            .described("how long before the flow the competitor starts"),
        Parameter::text("cpu_hog", "idle")
            .choices(&["idle", "other", "none"])
            .described(
                "scheduling policy of the CPU hog that measures the CPU that is left, beside a \
                 second flow of each trial: `idle` takes what nobody wants, `other` competes; \
                 `none`: there is no such flow",
            ),
    ];
    parameters.extend(common());
    parameters
}

fn factors() -> Vec<Factor> {
    let mut factors = vec![
        Factor::new("offered_kpps", "offered load", Some("1000/s"), "linear"),
        Factor::new("load_percent", "load", Some("%"), "linear"),
    ];
    factors.extend(settings());
    factors
}
