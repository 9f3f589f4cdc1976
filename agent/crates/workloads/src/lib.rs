//! The measured programs, one folder per area.

pub mod arithmetic;
mod assembly;
mod command;
mod cpu;
pub mod disk;
mod files;
mod forwarding;
pub mod memory;
mod network;
mod opt_level;
pub mod process;
mod test;

use pentathlon_harness::Workload;

/// Every workload of this agent, in the catalog's order.
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

/// Every workload that a worker can run: those of the catalog, and what runs a user's own command.
pub fn runnable() -> Vec<&'static dyn Workload> {
    let mut all = all();
    all.push(&command::Runner);
    all
}

/// The workload called `id`.
pub fn find(id: &str) -> Option<&'static dyn Workload> {
    all().into_iter().find(|w| w.describe().id == id)
}

#[cfg(test)]
mod tests {
    use super::{all, find};
    use pentathlon_harness::entry;

    #[test]
    fn only_what_may_be_zero_is_marked_and_every_mark_names_an_metric() {
        for workload in all() {
            let entry = entry(workload);
            let marked: Vec<&str> = entry["metrics"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|metric| metric.get("zero_allowed").is_some())
                .map(|metric| metric["id"].as_str().unwrap())
                .collect();
            assert_eq!(marked, workload.may_be_zero(), "{}", entry["id"]);
        }
        let faults = find("memory.faults").unwrap();
        assert!(!faults.may_be_zero().is_empty());
    }

    #[test]
    fn every_parameter_is_described() {
        for workload in all() {
            let described = workload.describe();
            for parameter in described.parameters {
                assert!(!parameter.description.is_empty(), "{}", described.id);
            }
        }
    }

    #[test]
    fn every_context_metric_is_marked_and_no_workload_has_nothing_else_by_mistake() {
        for workload in all() {
            let entry = entry(workload);
            let of = |role: &str| -> Vec<String> {
                entry["metrics"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter(|metric| metric["role"] == role)
                    .map(|metric| metric["id"].as_str().unwrap().to_owned())
                    .collect()
            };
            assert_eq!(of("context"), workload.context(), "{}", entry["id"]);
            let about_use = ["memory.after_boot", "memory.faults"];
            assert_eq!(
                of("performance").is_empty(),
                about_use.contains(&entry["id"].as_str().unwrap()),
                "{}",
                entry["id"]
            );
        }
    }

    /// The disk and the scheduler have nothing else, and these of `process` wait for another thread or make
    /// a process; what computes or calls the kernel alone keeps the counters.
    #[test]
    fn work_that_switches_reports_it_and_no_other() {
        let switching: Vec<&str> = all()
            .into_iter()
            .filter(|workload| workload.switches())
            .map(|workload| workload.describe().id)
            .filter(|id| !id.starts_with("disk.") && !id.starts_with("cpu.scheduling."))
            .collect();
        assert_eq!(
            switching,
            [
                "process.fork_wait",
                "process.fork_exec",
                "process.exec_static",
                "process.thread",
                "process.pipe_round_trip",
                "process.signal",
                "process.futex",
                "process.condition",
                "process.event",
            ]
        );
        for workload in all() {
            let id = workload.describe().id;
            if id.starts_with("disk.") || id.starts_with("cpu.scheduling.") {
                assert!(workload.switches(), "{id}");
            }
        }
    }
}
