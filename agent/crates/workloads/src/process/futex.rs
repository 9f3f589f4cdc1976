//! `process.futex`: two threads that wake each other by the system call that locks are made of.

#[cfg(any(target_os = "linux", windows))]
use super::calls;
use super::entry;
use pentathlon_harness::measure::{Context, Failure};
#[cfg(any(target_os = "linux", windows))]
use pentathlon_os::futex;
use pentathlon_protocol::catalog::{self, Semantics};
#[cfg(any(target_os = "linux", windows))]
use pentathlon_protocol::Case;
#[cfg(any(target_os = "linux", windows))]
use std::sync::atomic::{AtomicU32, Ordering};

pub struct Futex;

impl pentathlon_harness::Workload for Futex {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.futex",
            title: "futex wake and wait, there and back",
            summary: "Two threads hand a number to and fro: each raises it, wakes the other and \
                      sleeps until the other has raised it.",
            source: "Franke, Russell and Kirkwood 2002, Fuss, Futexes and Furwocks; futex(2)",
            parameters: vec![],
            factors: vec![],
            metrics: entry::time("Time per round trip"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux: "futex(2) with FUTEX_WAKE and FUTEX_WAIT on a private word, without a \
                        library, on the CPUs that the placement gives: on one CPU two context \
                        switches a trip, on several a thread can find the number raised before it \
                        sleeps; voluntary_switches beside the sample shows",
                windows: "WaitOnAddress and WakeByAddressSingle",
            },
        }
    }

    fn switches(&self) -> bool {
        true
    }

    #[cfg(any(target_os = "linux", windows))]
    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        // Even: the measuring thread's turn.
        let number = AtomicU32::new(0);
        std::thread::scope(|scope| {
            let partner = scope.spawn(|| answer(&number));
            let mut expected = 0u32;
            let call = || {
                expected = advanced(expected);
                hand_over(&number, expected)?;
                expected = advanced(expected);
                await_value(&number, expected)?;
                Ok(true)
            };
            calls::measure(context, &Case::new(), call);
            let ended = hand_over(&number, END);
            match partner.join() {
                Ok(answered) => ended.and(answered),
                Err(_) => Err(Failure::Failed("the other thread panicked".into())),
            }
        })
    }

    #[cfg(not(any(target_os = "linux", windows)))]
    fn run(&self, _context: &mut Context<'_>) -> Result<(), Failure> {
        Err(Failure::Unsupported(
            "futex(2) is a system call of Linux; process.condition measures the C library's \
             condition variable on every POSIX system"
                .into(),
        ))
    }
}

/// Tells the other thread to end; odd, so that it is its turn.
#[cfg(any(target_os = "linux", windows))]
const END: u32 = u32::MAX;

/// The number after this one, which is never the mark of the end.
#[cfg(any(target_os = "linux", windows))]
fn advanced(value: u32) -> u32 {
    match value.wrapping_add(1) {
        END => 1,
        next => next,
    }
}

#[cfg(any(target_os = "linux", windows))]
fn hand_over(number: &AtomicU32, value: u32) -> Result<(), Failure> {
    number.store(value, Ordering::Release);
    futex::wake(number)
        .map(drop)
        .map_err(|e| Failure::system("futex", &e))
}

#[cfg(any(target_os = "linux", windows))]
fn await_value(number: &AtomicU32, expected: u32) -> Result<(), Failure> {
    loop {
        match number.load(Ordering::Acquire) {
            value if value == expected => return Ok(()),
            other => futex::wait(number, other).map_err(|e| Failure::system("futex", &e))?,
        }
    }
}

/// The other thread: raises every odd number.
#[cfg(any(target_os = "linux", windows))]
fn answer(number: &AtomicU32) -> Result<(), Failure> {
    loop {
        match number.load(Ordering::Acquire) {
            END => return Ok(()),
            odd if odd % 2 == 1 => hand_over(number, advanced(odd))?,
            even => futex::wait(number, even).map_err(|e| Failure::system("futex", &e))?,
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_alternate_for_ever_and_never_mean_the_end() {
        for mut value in [0, u32::MAX - 5] {
            for step in 0..10 {
                assert_eq!(value % 2, step % 2);
                assert_ne!(value, END);
                value = advanced(value);
            }
        }
    }

    #[test]
    fn the_other_thread_answers_until_the_end() {
        let number = AtomicU32::new(0);
        std::thread::scope(|scope| {
            let partner = scope.spawn(|| answer(&number));
            for odd in [1, 3, 5] {
                hand_over(&number, odd).unwrap();
                await_value(&number, odd + 1).unwrap();
            }
            hand_over(&number, END).unwrap();
            assert_eq!(partner.join().unwrap(), Ok(()));
        });
    }
}
