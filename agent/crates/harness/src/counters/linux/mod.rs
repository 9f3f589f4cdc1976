//! The counters of Linux: `getrusage(2)`, `/proc/stat`, cpufreq, `perf_event_open(2)`.

mod cycles;
mod frequency;
mod machine;
mod process;

use super::{Delta, Options, Support};
use pentathlon_inventory::linux::layer::Layers;
use pentathlon_inventory::source::Source;
use std::collections::BTreeMap;

#[derive(Debug)]
pub struct Platform {
    process: process::Process,
    machine: machine::Machine,
    frequency: frequency::Frequency,
    cycles: cycles::Cycles,
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
        let cycles = if options.no_cycles {
            for name in cycles::NAMES {
                unsupported.insert(name, "this work would be slowed by counting them".into());
            }
            cycles::Cycles::default()
        } else {
            cycles::Cycles::open(&mut unsupported)
        };
        Self {
            process,
            machine,
            frequency,
            cycles,
            unsupported,
        }
    }

    pub fn read_machine(&mut self, into: &mut Delta) {
        self.machine.read(into);
        self.frequency.read(into);
    }

    pub fn read_process(&mut self, into: &mut Delta) {
        self.process.read(into);
        self.cycles.read(into);
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
        Support::new(self.unsupported.clone(), resolution, self.cycles.scope())
    }
}

#[cfg(test)]
#[path = "real_tests.rs"]
mod tests;
