//! `process.fork_wait`: a copy of this process, its end, and its status.

use super::calls;
use super::{entry, refusal};
use crate::memory::available;
use crate::opt_level;
use pentathlon_code::Level;
use pentathlon_harness::measure::{Context, Failure};
use pentathlon_os::child;
use pentathlon_protocol::catalog::{self, Factor, Parameter, Semantics};
use pentathlon_protocol::Case;

pub struct ForkWait;

/// What the child exits with: not 0, which a child could end with by accident.
const STATUS: u8 = 42;

impl pentathlon_harness::Workload for ForkWait {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.fork_wait",
            title: "fork, exit and wait",
            summary: "A process forks, the child exits at once, the parent waits for it.",
            source: entry::CALLS,
            parameters: vec![
                Parameter::integers("resident_bytes", &[0])
                    .unit("B")
                    .limits(0.0, (1u64 << 36) as f64)
                    .described(
                        "touched memory that the process holds beside the agent's own: fork copies \
                         its page tables",
                    ),
                opt_level::parameter(&opt_level::OWN),
            ],
            factors: vec![
                Factor::bytes("resident_bytes", "touched memory"),
                opt_level::factor(),
            ],
            metrics: entry::time("Time per fork, exit and wait"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux: "fork(3) of the C library, _exit(2), waitpid(2), from a process with one \
                        thread; the status of every child is checked",
                windows: "unsupported: there is no fork; CreateProcess starts a program anew",
            },
        }
    }

    fn switches(&self) -> bool {
        true
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        refusal::unless_single_threaded()?;
        for bytes in context.parameters.integers("resident_bytes") {
            let memory = touched(bytes as usize);
            for level in opt_level::chosen(context) {
                let case = Case::new()
                    .with("resident_bytes", bytes)
                    .with("opt_level", level.name);
                if let Err(failure) = &memory {
                    context.fail(Some(&case), failure);
                    continue;
                }
                calls::measure_loop(
                    context,
                    &case,
                    |calls| forks(level, calls, STATUS),
                    calls::nothing_left,
                );
            }
            drop(std::hint::black_box(memory));
        }
        Ok(())
    }
}

/// Forks one child after the other, each of which exits with `status`; how many did.
fn forks(level: Level, calls: u64, status: u8) -> Result<u64, Failure> {
    child::fork_wait(level, calls, status).map_err(|ended| match ended.call {
        1 => refusal::of_fork(&ended.error),
        _ => Failure::system("waitpid", &ended.error),
    })
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

    #[cfg(unix)]
    #[test]
    fn every_child_is_waited_for_at_every_level() {
        for level in pentathlon_code::levels() {
            assert_eq!(forks(level, 3, STATUS), Ok(3), "{}", level.name);
        }
    }
}
