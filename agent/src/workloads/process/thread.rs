//! `process.thread`: making a thread and waiting for its end.

use super::calls::{nothing_left, Calls};
use super::entry;
use crate::catalog::{self, Semantics};
use crate::measure::{Context, Failure};
use crate::protocol::Case;
use std::io;

pub struct Thread;

impl crate::workloads::Workload for Thread {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.thread",
            area: entry::AREA,
            title: "Thread create and join",
            summary: "A thread is made that returns a number it was given, changed; the first \
                      thread waits for its end.",
            source: "extends Venkatasubramanian 2003, section 5.1 (process fork); after stress-ng \
                     pthread",
            parameters: vec![],
            factors: vec![],
            indicators: entry::time("Time per create and join"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux: "pthread_create(3) and pthread_join(3) by the standard library, with a \
                        stack of 64 KiB, which the C library keeps for the next thread",
                windows: "CreateThread, WaitForSingleObject and CloseHandle by the standard \
                          library, with a stack of 64 KiB",
            },
            test_only: false,
        }
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let mut turn = 0;
        let call = || {
            turn += 1;
            start_and_join(turn).map(|found| found == !turn)
        };
        let mut body = Calls::new(call, nothing_left);
        context.measure("time", &Case::new(), entry::PER_CALL, &mut body);
        Ok(())
    }
}

/// What a new thread makes of a number.
#[inline(always)]
fn start_and_join(number: u64) -> Result<u64, Failure> {
    std::thread::Builder::new()
        .stack_size(64 << 10)
        .spawn(move || !std::hint::black_box(number))
        .map_err(|e| refused(&e))?
        .join()
        .map_err(|_| Failure::Failed("the new thread panicked".into()))
}

#[cold]
fn refused(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::WouldBlock => Failure::Failed(
            "no thread was made: a limit on threads is reached (`ulimit -u`, pids.max of the \
             control group, or kernel.threads-max); a higher limit is needed"
                .into(),
        ),
        _ => Failure::system("making a thread", error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_gives_back_the_number_changed() {
        assert_eq!(start_and_join(5), Ok(!5));
    }

    #[test]
    fn a_limit_on_threads_is_named() {
        let limit = refused(&io::ErrorKind::WouldBlock.into());
        assert!(matches!(limit, Failure::Failed(ref s) if s.contains("ulimit -u")));
    }
}
