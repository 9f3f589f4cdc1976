//! The counters of Linux: `getrusage(2)`, `/proc/stat`, cpufreq.

mod frequency;
mod machine;
mod process;

use super::{Delta, Options, Reading, Support};
use crate::inventory::linux::layer::Layers;
use crate::inventory::source::Source;
use std::collections::BTreeMap;

#[derive(Debug)]
pub struct Platform {
    process: process::Process,
    machine: machine::Machine,
    frequency: frequency::Frequency,
    unsupported: BTreeMap<&'static str, String>,
}

impl Platform {
    pub fn open(options: Options) -> Self {
        let source = Source::system();
        let layers = Layers::detect(&source);
        let mut unsupported = BTreeMap::new();
        let process = process::Process::open(layers.kernel, &mut unsupported);
        let (machine, frequency) = if options.only_process {
            for name in ["steal_ns", "interrupts", "frequency_khz"] {
                unsupported.insert(name, "too costly to read beside every sample here".into());
            }
            (machine::Machine::default(), frequency::Frequency::default())
        } else {
            (
                machine::Machine::open(&layers, &mut unsupported),
                frequency::Frequency::open(&source, &mut unsupported),
            )
        };
        Self {
            process,
            machine,
            frequency,
            unsupported,
        }
    }

    pub fn read(&mut self) -> Reading {
        let mut first = Delta::default();
        self.process.read(&mut first);
        self.machine.read(&mut first);
        self.frequency.read(&mut first);
        let mut last = first;
        self.process.read(&mut last);
        Reading { first, last }
    }

    pub fn support(&self) -> Support {
        let mut resolution = BTreeMap::new();
        if let Some(step) = process::clock_step_ns() {
            resolution.insert("cpu_user_ns", step);
            resolution.insert("cpu_system_ns", step);
        }
        if let Some(step) = machine::tick_ns() {
            resolution.insert("steal_ns", step);
        }
        Support::new(self.unsupported.clone(), resolution)
    }
}

#[cfg(test)]
#[path = "real_tests.rs"]
mod tests;
