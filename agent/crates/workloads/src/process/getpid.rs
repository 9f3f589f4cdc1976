//! `process.getpid`: the shortest way into the kernel and back.

use super::calls;
use super::entry;
use crate::opt_level;
use pentathlon_harness::measure::{Context, Failure};
use pentathlon_os::syscall;
use pentathlon_protocol::catalog::{self, Semantics};
use pentathlon_protocol::Case;

pub struct Getpid;

impl pentathlon_harness::Workload for Getpid {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.getpid",
            title: "System call getpid",
            summary: "The cost of entering the kernel and leaving it: getpid by the system call \
                      instruction, never from a cache.",
            source: entry::CALLS,
            parameters: vec![opt_level::parameter(&opt_level::OWN)],
            factors: vec![opt_level::factor()],
            metrics: entry::time("Time per getpid"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux: "the system call getpid(2), past the C library; every answer is compared \
                        with the process id",
                windows:
                    "NtQueryInformationProcess with ProcessBasicInformation, whose answer holds \
                          the process id: GetCurrentProcessId reads the process's own memory and \
                          enters no kernel. Under Wine a question to the wineserver process",
            },
        }
    }

    fn buffers(&self) -> u8 {
        1
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let expected = i64::from(std::process::id());
        for level in opt_level::chosen(context) {
            let case = Case::new().with("opt_level", level.name);
            let calls = |operations| Ok(syscall::getpids(level, operations, expected));
            calls::measure_loop(context, &case, calls, calls::nothing_left);
        }
        Ok(())
    }
}
