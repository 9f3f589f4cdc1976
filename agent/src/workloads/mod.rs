//! The measured programs, one folder per area.

#[cfg(feature = "workloads")]
pub mod arithmetic;
#[cfg(feature = "workloads")]
mod cpu;
#[cfg(feature = "workloads")]
pub mod disk;
#[cfg(feature = "workloads")]
mod files;
#[cfg(feature = "workloads")]
mod forwarding;
#[cfg(feature = "workloads")]
pub mod memory;
#[cfg(feature = "workloads")]
mod network;
#[cfg(feature = "workloads")]
mod opt_level;
#[cfg(feature = "workloads")]
pub mod process;
#[cfg(feature = "workloads")]
mod test;

use crate::catalog;
use crate::measure::{Context, Failure};
#[cfg(all(test, feature = "workloads"))]
pub(crate) use cpu::random::Random;

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

    /// Indicators whose value may rightly be zero, such as a rate of page faults. Any other that is
    /// zero did no work.
    fn may_be_zero(&self) -> &'static [&'static str] {
        &[]
    }

    /// Indicators that are no score: what the work took of the system (CPU time, interrupts), or how
    /// well another indicator is known. They count in no mean and are worded "more" and "fewer". In
    /// the order of the entry.
    fn context(&self) -> &'static [&'static str] {
        &[]
    }

    /// Measures every case; what fails for one case is reported and does not end the others.
    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure>;
}

/// What two hosts do: an entry of the catalog without anything to run. The experimenter drives the
/// endpoints of both hosts (`crate::endpoint`).
#[cfg(feature = "workloads")]
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

#[cfg(feature = "workloads")]
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

    /// Whoever asks one host for it is told what is missing.
    fn run(&self, _: &mut Context<'_>) -> Result<(), Failure> {
        Err(Failure::Unsupported(
            "this workload needs two hosts: give the system a [system.peer]".into(),
        ))
    }
}

/// Every workload of this agent, in the catalog's order.
#[cfg(feature = "workloads")]
pub fn all() -> Vec<&'static dyn Workload> {
    [
        memory::WORKLOADS,
        arithmetic::WORKLOADS,
        &cpu::workloads(),
        process::WORKLOADS,
        disk::WORKLOADS,
        network::WORKLOADS,
        forwarding::WORKLOADS,
        files::WORKLOADS,
        test::WORKLOADS,
    ]
    .concat()
}

/// The workload called `id`.
#[cfg(feature = "workloads")]
pub fn find(id: &str) -> Option<&'static dyn Workload> {
    all().into_iter().find(|w| w.describe().id == id)
}
