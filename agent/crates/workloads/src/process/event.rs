//! `process.event`: two threads that wake each other by an object of the kernel.

#[cfg(any(target_os = "linux", windows))]
use super::calls;
use super::entry;
use pentathlon_harness::measure::{Context, Failure};
#[cfg(any(target_os = "linux", windows))]
use pentathlon_os::event::Event;
use pentathlon_protocol::catalog::{self, Semantics};
#[cfg(any(target_os = "linux", windows))]
use pentathlon_protocol::Case;
#[cfg(any(target_os = "linux", windows))]
use std::sync::atomic::{AtomicU64, Ordering};

pub struct EventTrip;

impl pentathlon_harness::Workload for EventTrip {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.event",
            title: "Event set and waited for, there and back",
            summary: "Two threads wake each other in turn by two events of the kernel, which are \
                      set by one and reset by the other's wait; a number that each raises shows \
                      that both took part.",
            source: "eventfd(2); Microsoft, Win32 synchronization, event objects",
            parameters: vec![],
            factors: vec![],
            metrics: entry::time("Time per round trip"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux: "write(2) and read(2) of two eventfd(2) between two threads on the CPUs \
                        that the placement gives",
                windows: "SetEvent and WaitForSingleObject of two events that reset themselves. \
                          Under Wine both are questions to the wineserver process",
            },
        }
    }

    fn switches(&self) -> bool {
        true
    }

    #[cfg(any(target_os = "linux", windows))]
    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let event = || Event::new().map_err(|e| Failure::system("making an event", &e));
        let pair = Pair {
            there: event()?,
            back: event()?,
            number: AtomicU64::new(0),
        };
        std::thread::scope(|scope| {
            let partner = scope.spawn(|| pair.answer());
            calls::measure(context, &Case::new(), || pair.trip());
            pair.number.store(END, Ordering::Release);
            let ended = pair.there.set().map_err(|e| refused(&e));
            match partner.join() {
                Ok(answered) => ended.and(answered),
                Err(_) => Err(Failure::Failed("the other thread panicked".into())),
            }
        })
    }

    #[cfg(not(any(target_os = "linux", windows)))]
    fn run(&self, _context: &mut Context<'_>) -> Result<(), Failure> {
        Err(Failure::Unsupported(
            "events of the kernel are known of Linux and Windows".into(),
        ))
    }
}

#[cfg(any(target_os = "linux", windows))]
const END: u64 = u64::MAX;

#[cfg(any(target_os = "linux", windows))]
struct Pair {
    there: Event,
    back: Event,
    number: AtomicU64,
}

#[cfg(any(target_os = "linux", windows))]
impl Pair {
    /// Wakes the other thread and waits for it; returns whether it has raised the number by one.
    #[inline(always)]
    fn trip(&self) -> Result<bool, Failure> {
        let before = self.number.load(Ordering::Acquire);
        self.there.set().map_err(|e| refused(&e))?;
        self.back.wait().map_err(|e| refused(&e))?;
        Ok(self.number.load(Ordering::Acquire) == before + 1)
    }

    /// The other thread: raises the number whenever it is woken, until that says the end.
    fn answer(&self) -> Result<(), Failure> {
        loop {
            self.there.wait().map_err(|e| refused(&e))?;
            let number = self.number.load(Ordering::Acquire);
            if number == END {
                return Ok(());
            }
            self.number.store(number + 1, Ordering::Release);
            self.back.set().map_err(|e| refused(&e))?;
        }
    }
}

#[cfg(any(target_os = "linux", windows))]
#[cold]
fn refused(error: &std::io::Error) -> Failure {
    Failure::system("an event", error)
}

#[cfg(all(test, any(target_os = "linux", windows)))]
mod tests {
    use super::*;

    fn pair() -> Pair {
        Pair {
            there: Event::new().unwrap(),
            back: Event::new().unwrap(),
            number: AtomicU64::new(0),
        }
    }

    #[test]
    fn every_trip_raises_the_number_once() {
        let pair = pair();
        std::thread::scope(|scope| {
            let partner = scope.spawn(|| pair.answer());
            for expected in 1..100 {
                assert_eq!(pair.trip(), Ok(true));
                assert_eq!(pair.number.load(Ordering::Acquire), expected);
            }
            pair.number.store(END, Ordering::Release);
            pair.there.set().unwrap();
            assert_eq!(partner.join().unwrap(), Ok(()));
        });
    }

    #[test]
    fn an_answer_without_the_other_thread_is_wrong() {
        let pair = pair();
        pair.back.set().unwrap();
        assert_eq!(pair.trip(), Ok(false));
    }
}
