//! `process.fork_wait`: a copy of this process, its end, and its status.

use super::calls::{nothing_left, Calls};
use super::{entry, refusal};
use crate::catalog::{self, Semantics};
use crate::measure::{Context, Failure};
use crate::protocol::Case;
use crate::sys::child::{self, Exit};
use crate::workloads::memory::available;

pub struct ForkWait;

/// What the child exits with: not 0, which a child could end with by accident.
const STATUS: u8 = 42;

impl crate::workloads::Workload for ForkWait {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.fork_wait",
            area: entry::AREA,
            title: "fork, exit and wait",
            summary: "A process forks, the child exits at once, the parent waits for it.",
            source: entry::CALLS,
            parameters: vec![entry::integers(
                "resident_bytes",
                &[0],
                Some("B"),
                (0, 1 << 36),
                "touched memory that the process holds beside the agent's own: fork copies its \
                 page tables",
            )],
            factors: vec![entry::bytes("resident_bytes", "touched memory")],
            indicators: entry::time("Time per fork, exit and wait"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux: "fork(3) of the C library, _exit(2), waitpid(2), from a process with one \
                        thread; the status of every child is checked",
                windows: "unsupported: there is no fork; CreateProcess starts a program anew",
            },
            test_only: false,
        }
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        refusal::unless_single_threaded()?;
        for bytes in context.parameters.integers("resident_bytes") {
            let case = Case::new().with("resident_bytes", bytes);
            let memory = match touched(bytes as usize) {
                Ok(memory) => memory,
                Err(failure) => {
                    context.fail(Some(&case), &failure);
                    continue;
                }
            };
            let mut body = Calls::new(|| fork_and_wait(STATUS), nothing_left);
            context.measure("time", &case, entry::PER_CALL, &mut body);
            drop(std::hint::black_box(memory));
        }
        Ok(())
    }
}

/// One fork, whose child exits with `status`; tells whether it did.
#[inline(always)]
fn fork_and_wait(status: u8) -> Result<bool, Failure> {
    let child = child::fork(|| status).map_err(|e| refusal::of_fork(&e))?;
    let exit = child.wait().map_err(|e| Failure::system("waitpid", &e))?;
    Ok(exit == Exit::Code(i32::from(STATUS)))
}

/// Memory of which every byte was written. It is refused rather than driving the system out of
/// memory.
fn touched(bytes: usize) -> Result<Vec<u8>, Failure> {
    if let Some(available) = available::bytes().filter(|&there| bytes as u64 > there) {
        return Err(Failure::Unsupported(format!(
            "{bytes} bytes cannot be held: the system has {available} to spare"
        )));
    }
    let mut memory = Vec::new();
    memory
        .try_reserve_exact(bytes)
        .map_err(|_| Failure::Failed(format!("there is no memory of {bytes} bytes to hold")))?;
    memory.resize(bytes, 1);
    Ok(std::hint::black_box(memory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_not_there_is_refused_and_not_taken() {
        let refused = touched(1 << 50);
        assert!(matches!(
            refused,
            Err(Failure::Unsupported(_) | Failure::Failed(_))
        ));
        assert_eq!(touched(5000).unwrap(), vec![1; 5000]);
    }

    #[test]
    fn a_child_with_another_status_is_not_correct() {
        assert_eq!(fork_and_wait(STATUS), Ok(true));
        assert_eq!(fork_and_wait(0), Ok(false));
    }
}
