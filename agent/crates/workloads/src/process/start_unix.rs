//! Starting a program by `fork` and `execve`.

use super::{program, refusal};
use pentathlon_harness::measure::Failure;
use pentathlon_os::child::{self, Child, Exit};
use std::ffi::CStr;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;

pub const NAME: &str = "nothing";
const PATH: &CStr = c"./nothing";

/// Writes the program. The file is closed before anything is forked: a copy that still had it
/// open for writing would forbid its execution (ETXTBSY).
pub fn install(image: &[u8]) -> io::Result<()> {
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o755)
        .open(NAME)?
        .write_all(image)
}

/// Starts the program that was installed in the current directory.
#[inline(always)]
pub fn program() -> Result<Child, Failure> {
    child::fork(|| status_of(child::execute(PATH).map(|never| match never {})))
        .map_err(|e| refusal::of_fork(&e))
}

/// A child that could not execute the program exits with the number of the error.
fn status_of(failed: io::Result<()>) -> u8 {
    failed
        .err()
        .and_then(|error| error.raw_os_error())
        .and_then(|number| u8::try_from(number).ok())
        .unwrap_or(u8::MAX)
}

/// What another end than the program's own means.
#[cold]
pub fn failed(exit: Exit) -> Failure {
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
        let refused = failed(Exit::Code(libc::EACCES));
        assert!(
            matches!(refused, Failure::Unsupported(ref s) if s.contains("Permission denied")),
            "{refused:?}"
        );
        let broken = failed(Exit::Code(libc::ENOEXEC));
        assert!(matches!(broken, Failure::Failed(_)), "{broken:?}");
        assert!(matches!(failed(Exit::Code(0)), Failure::Invalid(_)));
    }

    #[test]
    fn a_missing_program_is_reported_by_the_childs_status() {
        let outcome = child::execute(c"/nowhere/nothing").map(|never| match never {});
        assert_eq!(i32::from(status_of(outcome)), libc::ENOENT);
    }
}
