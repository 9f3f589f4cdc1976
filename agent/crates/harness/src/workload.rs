//! What every workload is to the program that runs it.

use super::measure::{Context, Failure};
use pentathlon_protocol::catalog::{self, Entry, Role};
use serde_json::{json, Value};

/// A measured program with parameters.
pub trait Workload: Sync {
    /// Its entry in the catalog.
    fn describe(&self) -> catalog::Workload;

    /// Hosts that it runs between: 1, or 2 for the endpoints of a pair.
    fn hosts(&self) -> u8 {
        1
    }

    /// What it reports as histograms.
    fn histograms(&self) -> Vec<catalog::Histogram> {
        Vec::new()
    }

    /// What the types and limits of the parameters cannot say. The error is one sentence: what is
    /// wrong and what would be right.
    fn check(&self, _parameters: &catalog::Parameters) -> Result<(), String> {
        Ok(())
    }

    /// Time that one process may take with the default parameters, in s, where the common limit
    /// (`step_timeout_s` of a study) would cut it off.
    fn timeout_s(&self) -> Option<f64> {
        None
    }

    /// Metrics whose value may rightly be zero, such as a rate of page faults. Any other that is
    /// zero did no work.
    fn may_be_zero(&self) -> &'static [&'static str] {
        &[]
    }

    /// Metrics that are no score: what the work took of the system (CPU time, interrupts), or how
    /// well another metric is known. They count in no mean and are worded "more" and "fewer". In
    /// the order of the entry.
    fn context(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether the work switches between threads or processes, or waits for a device. Where the
    /// processor's counters count, the kernel saves and loads them at each switch and makes them anew
    /// for each process, which in a virtual machine costs microseconds: more than what is measured.
    /// So they are left out beside such work.
    fn switches(&self) -> bool {
        false
    }

    /// Whether it serves the tests and measures nothing of interest.
    fn test_only(&self) -> bool {
        false
    }

    /// How many buffers of the size that a case states in bytes its work goes over. Small ones of
    /// them can be measured in turns with other systems, because a part of a batch brings them back into
    /// the caches. 0: not in turns. Its batches need more than caches, such as a disk, or the case
    /// does not state what they work on, or threads wake each other or processes are copied in
    /// them: how long that takes depends on how long the system has waited before.
    fn buffers(&self) -> u8 {
        0
    }

    /// Measures every case; what fails for one case is reported and does not end the others.
    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure>;
}

/// What two hosts do: an entry of the catalog without anything to run. The experimenter drives the
/// endpoints of both hosts.
pub trait BetweenHosts: Sync {
    /// As in [`Workload`], and so the others.
    fn describe(&self) -> catalog::Workload;

    fn timeout_s(&self) -> Option<f64> {
        None
    }

    fn may_be_zero(&self) -> &'static [&'static str] {
        &[]
    }

    fn context(&self) -> &'static [&'static str] {
        &[]
    }
}

impl<T: BetweenHosts> Workload for T {
    fn describe(&self) -> catalog::Workload {
        BetweenHosts::describe(self)
    }

    fn hosts(&self) -> u8 {
        2
    }

    fn timeout_s(&self) -> Option<f64> {
        BetweenHosts::timeout_s(self)
    }

    fn may_be_zero(&self) -> &'static [&'static str] {
        BetweenHosts::may_be_zero(self)
    }

    fn context(&self) -> &'static [&'static str] {
        BetweenHosts::context(self)
    }

    /// A request to a single host reports what is missing.
    fn run(&self, _: &mut Context<'_>) -> Result<(), Failure> {
        Err(Failure::Unsupported(
            "this workload needs two hosts: give the system a [system.peer]".into(),
        ))
    }
}

/// A workload's entry, in which `zero_allowed` marks the metrics that may be zero, and the role
/// `context` those that say what the work took or how well it is known, and not how fast it was.
pub fn entry(workload: &dyn Workload) -> Value {
    let described = workload.describe();
    let listed = |metric: catalog::Metric| catalog::Listed {
        zero_allowed: workload.may_be_zero().contains(&metric.id),
        role: if workload.context().contains(&metric.id) {
            Role::Context
        } else {
            Role::Performance
        },
        metric,
    };
    json!(Entry {
        area: described.area(),
        id: described.id,
        title: described.title,
        summary: described.summary,
        source: described.source,
        parameters: described.parameters,
        factors: described.factors,
        metrics: described.metrics.into_iter().map(listed).collect(),
        checksum: described.checksum,
        semantics: described.semantics,
        test_only: workload.test_only(),
        hosts: workload.hosts(),
        histograms: workload.histograms(),
        timeout_s: workload.timeout_s(),
        buffers: workload.buffers(),
    })
}
