//! `process.thread`: making a thread and waiting for its end.

use super::calls;
use super::entry;
use pentathlon_harness::measure::{Context, Failure};
#[cfg(unix)]
use pentathlon_os::thread::{changed, Maker};
use pentathlon_protocol::catalog::{self, Semantics};
use pentathlon_protocol::Case;
use std::io;

const STACK_BYTES: usize = 64 << 10;

pub struct Thread;

impl pentathlon_harness::Workload for Thread {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.thread",
            title: "Thread create and join",
            summary: "A thread is made that returns a number it was given, changed; the first \
                      thread waits for its end.",
            source: "extends venkata2003 §5.1 (process fork); after stress-ng pthread",
            parameters: vec![],
            factors: vec![],
            metrics: entry::time("Time per create and join"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux:
                    "pthread_create(3) and pthread_join(3), with a stack of 64 KiB, which the C \
                        library keeps for the next thread",
                windows: "CreateThread, WaitForSingleObject and CloseHandle by the standard \
                          library, with a stack of 64 KiB",
            },
        }
    }

    fn switches(&self) -> bool {
        true
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let maker = Maker::new(STACK_BYTES).map_err(|e| Failure::system("pthread_attr", &e))?;
        let mut turn = 0;
        let call = || {
            turn += 1;
            let found = maker.start_and_join(turn).map_err(|e| refused(&e))?;
            Ok(found == changed(turn))
        };
        calls::measure(context, &Case::new(), call);
        Ok(())
    }
}

/// The standard library's threads, where they are little more than the system's.
#[cfg(not(unix))]
struct Maker(usize);

#[cfg(not(unix))]
impl Maker {
    fn new(stack_bytes: usize) -> io::Result<Self> {
        Ok(Self(stack_bytes))
    }

    #[inline(always)]
    fn start_and_join(&self, number: usize) -> io::Result<usize> {
        std::thread::Builder::new()
            .stack_size(self.0)
            .spawn(move || changed(std::hint::black_box(number)))?
            .join()
            .map_err(|_| io::Error::other("the new thread panicked"))
    }
}

/// What a new thread makes of a number.
#[cfg(not(unix))]
fn changed(number: usize) -> usize {
    !number
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
        let maker = Maker::new(STACK_BYTES).unwrap();
        assert_eq!(maker.start_and_join(5).unwrap(), changed(5));
        assert_ne!(changed(5), 5);
    }

    #[test]
    fn a_limit_on_threads_is_named() {
        let limit = refused(&io::ErrorKind::WouldBlock.into());
        assert!(matches!(limit, Failure::Failed(ref s) if s.contains("ulimit -u")));
    }
}
