//! `process.fork_exec`: starting the smallest program, its end, and its status.

use super::calls;
use super::{directory, entry, program, refusal};
use pentathlon_harness::measure::{Context, Failure};
use pentathlon_os::child::Exit;
use pentathlon_os::filesystem;
use pentathlon_protocol::catalog::{self, Semantics};
use pentathlon_protocol::Case;

#[cfg(unix)]
#[path = "start_unix.rs"]
mod start;
#[cfg(windows)]
#[path = "start_windows.rs"]
mod start;

pub struct ForkExec;

impl pentathlon_harness::Workload for ForkExec {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.fork_exec",
            title: "fork, exec and wait",
            summary: "A process forks, the child executes a static program of 188 bytes that only \
                      exits, the parent waits for it.",
            source: "McVoy and Staelin 1996, lmbench lat_proc exec; extends venkata2003 §5.1",
            parameters: vec![],
            factors: vec![],
            metrics: entry::time("Time per fork, exec, exit and wait"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux: "fork(3), execve(2) of a static ELF file in the scratch directory (no \
                        dynamic linker, no C library, no environment), exit, waitpid(2); the \
                        status of every child is checked",
                windows: "CreateProcess of a program of 1 KB that only calls ExitProcess, \
                          WaitForSingleObject, GetExitCodeProcess; no console is made for it",
            },
        }
    }

    fn switches(&self) -> bool {
        true
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        refusal::unless_single_threaded()?;
        let Some(image) = program::image() else {
            return Err(Failure::Unsupported(format!(
                "the program to start is written down for x86_64 and aarch64, not for {}",
                std::env::consts::ARCH
            )));
        };
        let _inside = directory::enter_scratch(context)?;
        if filesystem::forbids_execution(&context.scratch).unwrap_or(false) {
            return Err(Failure::Unsupported(format!(
                "{} is mounted noexec: no program can be started from it; another scratch \
                 directory is needed",
                context.scratch.display()
            )));
        }
        start::install(&image).map_err(|e| Failure::system("writing the program to start", &e))?;
        calls::measure(context, &Case::new(), start_and_wait);
        std::fs::remove_file(start::NAME).ok();
        Ok(())
    }
}

#[inline(always)]
fn start_and_wait() -> Result<bool, Failure> {
    let child = start::program()?;
    match child.wait() {
        Ok(Exit::Code(program::STATUS)) => Ok(true),
        Ok(exit) => Err(start::failed(exit)),
        Err(error) => Err(Failure::system("waiting for the program", &error)),
    }
}
