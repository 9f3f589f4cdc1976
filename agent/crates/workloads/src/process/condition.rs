//! `process.condition`: two threads that wake each other by a condition variable of the C library.

use super::calls;
use super::entry;
use pentathlon_harness::measure::{Context, Failure};
use pentathlon_os::condition::Turn;
use pentathlon_protocol::catalog::{self, Semantics};
use pentathlon_protocol::Case;

pub struct Condition;

impl pentathlon_harness::Workload for Condition {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.condition",
            title: "Condition variable, there and back",
            summary: "Two threads hand a number to and fro under a mutex: each raises it, signals \
                      the condition variable and waits on it until the other has raised it.",
            source: "POSIX.1-2017, pthread_cond_wait; after perf bench futex and sysbench mutex",
            parameters: vec![],
            factors: vec![],
            metrics: entry::time("Time per round trip"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux: "pthread_mutex_lock, pthread_cond_wait and pthread_cond_signal of the C \
                        library that the agent was linked with, on the CPUs that the placement \
                        gives; every number is the next one",
                windows: "SleepConditionVariableSRW and WakeConditionVariable",
            },
        }
    }

    fn switches(&self) -> bool {
        true
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        // Even: the measuring thread's turn.
        let turn = Turn::new(0);
        std::thread::scope(|scope| {
            let partner = scope.spawn(|| answer(&turn));
            let mut expected = 0;
            let call = || {
                let found = turn.take(even, |n| n + 1).map_err(refused)?;
                // The number of this trip is what the other thread made of the last one.
                let right = found == expected;
                expected += 2;
                Ok(right)
            };
            calls::measure(context, &Case::new(), call);
            let ended = turn.take(even, |_| END).map_err(refused);
            match partner.join() {
                Ok(answered) => ended.and(answered),
                Err(_) => Err(Failure::Failed("the other thread panicked".into())),
            }
        })
    }
}

/// Tells the other thread to end; odd, so that it is its turn.
const END: u64 = u64::MAX;

fn even(number: u64) -> bool {
    number.is_multiple_of(2)
}

/// The other thread: raises every odd number.
fn answer(turn: &Turn) -> Result<(), Failure> {
    let odd = |number| !even(number);
    while turn.take(odd, |n| n.saturating_add(1)).map_err(refused)? != END {}
    Ok(())
}

fn refused(error: std::io::Error) -> Failure {
    Failure::system("a mutex or condition variable", &error)
}
