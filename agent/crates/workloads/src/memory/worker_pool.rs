//! Threads that work at the same time: the rate of each is taken while all of them work.

use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{Body, Failure};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Barrier;
use std::thread::ScopedJoinHandle;

/// Batches of a window: the clock is read once per batch.
const BATCHES: f64 = 16.0;

/// What one thread did inside the window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    pub operations: u64,
    pub elapsed_ns: f64,
    pub checksum: u64,
}

/// A thread's work and the CPU that it is bound to, if any.
pub struct Member<'a> {
    pub cpu: Option<usize>,
    pub body: Box<dyn Body + Send + 'a>,
}

/// How far the worker_pool is.
struct Course {
    barrier: Barrier,
    members: usize,
    started: AtomicUsize,
    finished: AtomicUsize,
    broken: AtomicBool,
}

impl Course {
    /// Whether somebody has not yet counted itself in.
    fn waits_for(&self, counter: &AtomicUsize) -> bool {
        counter.load(Ordering::Acquire) < self.members && !self.broken.load(Ordering::Acquire)
    }
}

/// Ends the others if a thread panics: they would wait for it for ever.
struct Guard<'a>(&'a Course);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Release);
        }
    }
}

/// Runs every member's body in a thread of its own for `window_ns` or, if that is longer, one
/// batch. The time of a member begins when all work and ends while all still work: whoever is ready
/// earlier goes on uncounted.
pub fn window(
    members: &mut [Member<'_>],
    window_ns: f64,
    clock: &Clock,
) -> Result<Vec<Share>, Failure> {
    let course = Course {
        barrier: Barrier::new(members.len()),
        members: members.len(),
        started: AtomicUsize::new(0),
        finished: AtomicUsize::new(0),
        broken: AtomicBool::new(false),
    };
    let course = &course;
    std::thread::scope(|scope| {
        let threads: Vec<_> = members
            .iter_mut()
            .map(|member| scope.spawn(move || work(member, course, window_ns, clock)))
            .collect();
        joined(threads)
    })
}

/// What the threads yield, in their order.
pub fn joined<T>(
    threads: Vec<ScopedJoinHandle<'_, Result<T, Failure>>>,
) -> Result<Vec<T>, Failure> {
    let panicked = |_| Err(Failure::Failed("a thread panicked".into()));
    let results = threads.into_iter().map(|thread| thread.join());
    results
        .map(|result| result.unwrap_or_else(panicked))
        .collect()
}

/// The checksum that all threads computed from equal blocks.
pub fn agreed(shares: &[Share]) -> Result<u64, Failure> {
    let checksum = shares[0].checksum;
    match shares.iter().find(|share| share.checksum != checksum) {
        Some(other) => Err(Failure::Invalid(format!(
            "the threads computed {checksum:#x} and {:#x} from equal blocks",
            other.checksum
        ))),
        None => Ok(checksum),
    }
}

fn work(
    member: &mut Member<'_>,
    course: &Course,
    window_ns: f64,
    clock: &Clock,
) -> Result<Share, Failure> {
    let _guard = Guard(course);
    let bound = bind(member.cpu);
    let body = &mut member.body;
    let prepared = bound.and_then(|()| body.prepare(0));
    if prepared.is_err() {
        course.broken.store(true, Ordering::Release);
    }
    course.barrier.wait();
    prepared?;
    let mut run = |operations: u64| {
        let from = clock.ticks();
        let returned = std::hint::black_box(body.batch(std::hint::black_box(operations)));
        (clock.elapsed_ns(from, clock.ticks()), returned)
    };
    let mut operations = 1u64;
    while run(operations).0 < window_ns / BATCHES && operations < 1 << 40 {
        // Odd, because reading cannot distinguish some even numbers of passes.
        operations = operations * 2 + 1;
    }
    let mut last = 0;
    course.started.fetch_add(1, Ordering::AcqRel);
    while course.waits_for(&course.started) {
        last = run(operations).1;
    }
    let from = clock.ticks();
    let (mut batches, mut elapsed_ns) = (0, 0.0);
    while batches == 0 || elapsed_ns < window_ns {
        last = run(operations).1;
        elapsed_ns = clock.elapsed_ns(from, clock.ticks());
        batches += 1;
    }
    course.finished.fetch_add(1, Ordering::AcqRel);
    while course.waits_for(&course.finished) {
        last = run(operations).1;
    }
    Ok(Share {
        operations: batches * operations,
        elapsed_ns,
        checksum: body.verify(operations, last)?,
    })
}

/// The CPUs that this process may run on.
#[cfg(any(target_os = "linux", windows))]
pub fn cpus() -> Result<Vec<Option<usize>>, Failure> {
    let cpus = pentathlon_os::placement::cpus()
        .map_err(|e| Failure::system("reading the CPUs allowed", &e))?;
    Ok(cpus.into_iter().map(Some).collect())
}

/// As many threads as there are CPUs; the system places them.
#[cfg(not(any(target_os = "linux", windows)))]
pub fn cpus() -> Result<Vec<Option<usize>>, Failure> {
    let count = std::thread::available_parallelism()
        .map_err(|e| Failure::system("counting the CPUs", &e))?;
    Ok(vec![None; count.get()])
}

/// Binds this thread: two threads of a short window may not share a CPU.
#[cfg(target_os = "linux")]
pub fn bind(cpu: Option<usize>) -> Result<(), Failure> {
    match cpu {
        Some(cpu) => pentathlon_os::placement::set_cpus(&[cpu])
            .map_err(|e| Failure::system("binding a thread to its CPU", &e)),
        None => Ok(()),
    }
}

#[cfg(windows)]
pub fn bind(cpu: Option<usize>) -> Result<(), Failure> {
    match cpu {
        Some(cpu) => pentathlon_os::placement::bind_thread(cpu)
            .map_err(|e| Failure::system("binding a thread to its CPU", &e)),
        None => Ok(()),
    }
}

#[cfg(not(any(target_os = "linux", windows)))]
pub fn bind(_cpu: Option<usize>) -> Result<(), Failure> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_harness::clock::calibrate;
    use pentathlon_harness::measure::Closures;
    use std::sync::atomic::AtomicU64;

    const WINDOW_NS: f64 = 2e6;

    fn member<'a>(body: impl Body + Send + 'a) -> Member<'a> {
        Member {
            cpu: None,
            body: Box::new(body),
        }
    }

    /// Spins as often as requested and returns that number.
    fn spin(operations: u64) -> u64 {
        (0..operations).fold(0, |n, _| std::hint::black_box(n) + 1)
    }

    #[test]
    fn every_member_works_for_the_whole_window_and_counts_its_own() {
        let clock = Clock::of(&calibrate());
        for count in [1, 3] {
            let mut members: Vec<_> = (0..count)
                .map(|n| {
                    member(Closures(spin, move |requested, got| {
                        if requested == got {
                            Ok(n)
                        } else {
                            Err(Failure::Invalid("lost".into()))
                        }
                    }))
                })
                .collect();
            let shares = window(&mut members, WINDOW_NS, &clock).unwrap();
            assert_eq!(shares.len(), count as usize);
            for (n, share) in shares.iter().enumerate() {
                assert_eq!(share.checksum, n as u64);
                assert!(share.elapsed_ns >= WINDOW_NS, "{share:?}");
                assert!(share.operations > 0);
            }
        }
    }

    #[test]
    fn a_slow_member_is_in_company_until_its_end() {
        let clock = Clock::of(&calibrate());
        let fast_done = AtomicU64::new(0);
        let seen = AtomicU64::new(u64::MAX);
        let fast = Closures(
            |n| {
                fast_done.fetch_add(1, Ordering::Relaxed);
                spin(n)
            },
            |_, _| Ok(0),
        );
        // One operation takes longer than the window. On a busy machine the fast one may have no CPU
        // for long.
        let slow = Closures(
            |_| {
                let before = fast_done.load(Ordering::Relaxed);
                let mut more = 0;
                for _ in 0..3000 {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                    more = fast_done.load(Ordering::Relaxed) - before;
                    if more > 0 {
                        break;
                    }
                }
                seen.store(more, Ordering::Relaxed);
                0
            },
            |_, _| Ok(0),
        );
        let shares = window(&mut [member(fast), member(slow)], WINDOW_NS, &clock).unwrap();
        assert_eq!(shares[1].operations, 1);
        assert!(seen.load(Ordering::Relaxed) > 0, "the fast one had stopped");
    }

    #[test]
    fn threads_that_disagree_are_found() {
        let share = |checksum| Share {
            operations: 1,
            elapsed_ns: 1.0,
            checksum,
        };
        assert_eq!(agreed(&[share(7), share(7)]), Ok(7));
        let outcome = agreed(&[share(7), share(7), share(8)]);
        assert!(matches!(outcome, Err(Failure::Invalid(_))), "{outcome:?}");
    }

    #[test]
    fn what_fails_in_one_thread_fails_the_round() {
        let clock = Clock::of(&calibrate());
        let bad = || {
            member(Closures(spin, |_, _| {
                Err(Failure::Invalid("planted".into()))
            }))
        };
        let good = || member(Closures(spin, |_, _| Ok(0)));
        let outcome = window(&mut [good(), bad()], WINDOW_NS, &clock);
        assert_eq!(outcome, Err(Failure::Invalid("planted".into())));
        let panics = member(Closures(|_| panic!("planted"), |_, _| Ok(0)));
        let outcome = window(&mut [good(), panics, good()], WINDOW_NS, &clock);
        assert!(matches!(outcome, Err(Failure::Failed(_))), "{outcome:?}");
    }

    #[test]
    fn a_member_that_cannot_start_does_not_hold_the_others() {
        struct Refuses;
        impl Body for Refuses {
            fn prepare(&mut self, _: u64) -> Result<(), Failure> {
                Err(Failure::Unsupported("planted".into()))
            }
            fn batch(&mut self, _: u64) -> u64 {
                unreachable!("it was not prepared")
            }
            fn verify(&mut self, _: u64, _: u64) -> Result<u64, Failure> {
                Ok(0)
            }
        }
        let clock = Clock::of(&calibrate());
        let good = member(Closures(spin, |_, _| Ok(0)));
        let outcome = window(&mut [good, member(Refuses)], WINDOW_NS, &clock);
        assert_eq!(outcome, Err(Failure::Unsupported("planted".into())));
    }
}
