//! `process.fork_exec`: starting the smallest program, its end, and its status.

use super::calls::{nothing_left, Calls};
use super::{directory, entry, program, refusal};
use crate::catalog::{self, Semantics};
use crate::measure::{Context, Failure};
use crate::protocol::Case;
use crate::sys::child::{self, Exit};
use crate::sys::filesystem;
use std::ffi::CStr;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;

pub struct ForkExec;

const NAME: &str = "nothing";
const PATH: &CStr = c"./nothing";

impl crate::workloads::Workload for ForkExec {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.fork_exec",
            area: entry::AREA,
            title: "fork, exec and wait",
            summary: "A process forks, the child executes a static program of 188 bytes that only \
                      exits, the parent waits for it.",
            source: "McVoy and Staelin 1996, lmbench lat_proc exec; extends Venkatasubramanian \
                     2003, section 5.1",
            parameters: vec![],
            factors: vec![],
            indicators: entry::time("Time per fork, exec, exit and wait"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux: "fork(3), execve(2) of a static ELF file in the scratch directory (no \
                        dynamic linker, no C library, no environment), exit, waitpid(2); the \
                        status of every child is checked",
                windows: "CreateProcess of a program that only exits",
            },
            test_only: false,
        }
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
        install(&image).map_err(|e| Failure::system("writing the program to start", &e))?;
        let mut body = Calls::new(start_and_wait, nothing_left);
        context.measure("time", &Case::new(), entry::PER_CALL, &mut body);
        std::fs::remove_file(NAME).ok();
        Ok(())
    }
}

/// Writes the program. The file is closed before anything is forked: a copy that still had it
/// open for writing would forbid its execution (ETXTBSY).
fn install(image: &[u8]) -> io::Result<()> {
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o755)
        .open(NAME)?
        .write_all(image)
}

#[inline(always)]
fn start_and_wait() -> Result<bool, Failure> {
    let child = child::fork(|| status_of(child::execute(PATH).map(|never| match never {})))
        .map_err(|e| refusal::of_fork(&e))?;
    match child.wait() {
        Ok(Exit::Code(program::STATUS)) => Ok(true),
        Ok(exit) => Err(not_started(exit)),
        Err(error) => Err(Failure::system("waitpid", &error)),
    }
}

/// A child that could not execute the program exits with the number of the error.
fn status_of(failed: io::Result<()>) -> u8 {
    failed
        .err()
        .and_then(|error| error.raw_os_error())
        .and_then(|number| u8::try_from(number).ok())
        .unwrap_or(u8::MAX)
}

#[cold]
fn not_started(exit: Exit) -> Failure {
    match exit {
        Exit::Code(0 | 255) => Failure::Invalid(format!(
            "the program should exit with {} and ended with {exit:?}",
            program::STATUS
        )),
        Exit::Code(number) => Failure::system(
            "executing a program in the scratch directory",
            &io::Error::from_raw_os_error(number),
        ),
        Exit::Signal(number) => {
            Failure::Failed(format!("the started program was ended by signal {number}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_cannot_be_executed_is_named_with_the_systems_reason() {
        let refused = not_started(Exit::Code(libc::EACCES));
        assert!(
            matches!(refused, Failure::Unsupported(ref s) if s.contains("Permission denied")),
            "{refused:?}"
        );
        let broken = not_started(Exit::Code(libc::ENOEXEC));
        assert!(matches!(broken, Failure::Failed(_)), "{broken:?}");
        assert!(matches!(not_started(Exit::Code(0)), Failure::Invalid(_)));
    }

    #[test]
    fn a_missing_program_is_told_by_the_childs_status() {
        let failed = child::execute(c"/nowhere/nothing").map(|never| match never {});
        assert_eq!(i32::from(status_of(failed)), libc::ENOENT);
    }
}
