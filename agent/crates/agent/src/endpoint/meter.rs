//! What the flows of a trial cost this host: its counters are read when the flows begin and when
//! they end, and never between, so that the readings cost the measurement nothing.
//!
//! What comes before the flows (the clock exchange, the wait of the threads for each other) and
//! after them (the wait for late packets) is not theirs. No thread wakes up to the nanosecond, and none
//! is sure to read without being put aside, so each reading has the times that it lies between. The
//! window is from before the first one to after the second: what was counted happened inside.

use super::host::{Counted, Reading};
use pentathlon_packets::Timer;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// From when to when flows are planned to run, ns on this host's timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub start_ns: u64,
    pub end_ns: u64,
}

/// What was counted in a window.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TrialCounters", deny_unknown_fields)]
pub struct Metered<T = Counted> {
    #[serde(flatten)]
    pub counted: T,
    pub window: Window,
}

/// Both readings lie between these times, and so does all that was counted.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Window {
    pub from_ns: u64,
    pub to_ns: u64,
    /// What the readings took: by so much the time between them can be shorter.
    pub unknown_ns: u64,
}

/// A thread that sleeps but for two readings.
pub struct Meter {
    thread: JoinHandle<Option<Metered>>,
}

impl Meter {
    /// The meter, and where it gets its span; a later span takes the place of one before. A
    /// span ends early where the sender of spans is dropped.
    pub fn start(timer: Timer) -> (Self, Sender<Span>) {
        let (announce, spans) = mpsc::channel();
        let since = |(before, after): (&Reading, &Reading)| after.since(before);
        let thread = std::thread::spawn(move || read(&timer, &spans, Reading::now, since));
        (Self { thread }, announce)
    }

    /// What was counted; none if no span has begun. The sender of spans has to be dropped before.
    pub fn finish(self) -> Option<Metered> {
        self.thread.join().unwrap_or(None)
    }
}

/// How a wait ended.
enum Waited {
    Reached,
    Span(Span),
    Dropped,
}

fn read<R, T>(
    timer: &Timer,
    spans: &Receiver<Span>,
    take: impl Fn() -> R,
    since: impl Fn((&R, &R)) -> T,
) -> Option<Metered<T>> {
    let mut found = None;
    let mut next = spans.recv().ok();
    while let Some(span) = next {
        found = None;
        next = match wait(timer, spans, span.start_ns) {
            Waited::Span(newer) => Some(newer),
            Waited::Dropped => None,
            Waited::Reached => {
                let (begun, before) = reading(timer, &take);
                match wait(timer, spans, span.end_ns) {
                    Waited::Span(newer) => Some(newer),
                    Waited::Reached | Waited::Dropped => {
                        let (ended, after) = reading(timer, &take);
                        found = Some(Metered {
                            counted: since((&before, &after)),
                            window: window(begun, ended),
                        });
                        spans.recv().ok()
                    }
                }
            }
        };
    }
    found
}

/// A reading, and the times just before and just after it.
fn reading<R>(timer: &Timer, take: impl Fn() -> R) -> ([u64; 2], R) {
    let before_ns = timer.now_ns();
    let taken = take();
    ([before_ns, timer.now_ns()], taken)
}

fn window([from_ns, begun_ns]: [u64; 2], [ended_ns, to_ns]: [u64; 2]) -> Window {
    Window {
        from_ns,
        to_ns,
        unknown_ns: begun_ns - from_ns + to_ns - ended_ns,
    }
}

fn wait(timer: &Timer, spans: &Receiver<Span>, until_ns: u64) -> Waited {
    let left = Duration::from_nanos(until_ns.saturating_sub(timer.now_ns()));
    match spans.recv_timeout(left) {
        Ok(span) => Waited::Span(span),
        Err(RecvTimeoutError::Timeout) => Waited::Reached,
        Err(RecvTimeoutError::Disconnected) => Waited::Dropped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_harness::clock::calibrate;

    const MS: u64 = 1_000_000;

    fn timer() -> Timer {
        Timer::start(&calibrate())
    }

    fn after(timer: &Timer, from_ms: u64, to_ms: u64) -> Span {
        let now = timer.now_ns();
        Span {
            start_ns: now + from_ms * MS,
            end_ns: now + to_ms * MS,
        }
    }

    fn window<T>(found: &Option<Metered<T>>) -> (u64, u64) {
        let window = found.as_ref().expect("a span has begun").window;
        (window.from_ns, window.to_ns)
    }

    #[test]
    fn a_span_is_read_at_its_ends_however_late_its_teller_is_dropped() {
        let timer = timer();
        let (meter, announce) = Meter::start(timer);
        let span = after(&timer, 10, 30);
        announce.send(span).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let asked_ns = timer.now_ns();
        drop(announce);
        let (from_ns, to_ns) = window(&meter.finish());
        assert!(span.start_ns <= from_ns && span.end_ns <= to_ns);
        assert!(
            to_ns < asked_ns,
            "read when it was asked for, not at its end"
        );
    }

    #[test]
    fn a_later_span_takes_the_place_of_one_before_or_under_way_or_over() {
        for wait_ms in [0, 15, 60] {
            let timer = timer();
            let (meter, announce) = Meter::start(timer);
            announce.send(after(&timer, 10, 30)).unwrap();
            std::thread::sleep(Duration::from_millis(wait_ms));
            let second = after(&timer, 40, 50);
            announce.send(second).unwrap();
            timer.wait_until(second.end_ns + 100 * MS);
            drop(announce);
            let (from_ns, to_ns) = window(&meter.finish());
            assert!(second.start_ns <= from_ns && second.end_ns <= to_ns);
        }
    }

    #[test]
    fn a_span_that_was_not_reported_or_has_not_begun_is_unknown() {
        let timer = timer();
        let (meter, announce) = Meter::start(timer);
        drop(announce);
        assert!(meter.finish().is_none());
        let (meter, announce) = Meter::start(timer);
        announce.send(after(&timer, 60_000, 61_000)).unwrap();
        drop(announce);
        assert!(meter.finish().is_none());
    }

    /// A thread that is put aside between a look at the clock and a reading counts for longer than
    /// the clock says: on one CPU a reading can be later than its time by what all others have.
    #[test]
    fn what_was_counted_lies_inside_the_window_however_long_a_reading_takes() {
        let timer = timer();
        let slow = || {
            let begun = timer.now_ns();
            timer.wait_until(begun + 5 * MS);
            (begun, timer.now_ns())
        };
        let since = |(before, after): (&(u64, u64), &(u64, u64))| [*before, *after];
        let (announce, spans) = mpsc::channel();
        announce.send(after(&timer, 0, 10)).unwrap();
        let found = std::thread::scope(|scope| {
            let timer = &timer;
            let reading = scope.spawn(move || read(timer, &spans, slow, since));
            std::thread::sleep(Duration::from_millis(20));
            drop(announce);
            reading.join().unwrap()
        });
        let (from_ns, to_ns) = window(&found);
        let metered = found.as_ref().expect("a span has begun");
        let [first, second] = metered.counted;
        assert!(from_ns <= first.0, "{found:?}");
        assert!(second.1 <= to_ns, "{found:?}");
        let taken_ns = first.1 - first.0 + second.1 - second.0;
        assert!(taken_ns <= metered.window.unknown_ns, "{found:?}");
    }

    #[test]
    fn a_span_ends_early_where_its_teller_is_dropped() {
        let timer = timer();
        let (meter, announce) = Meter::start(timer);
        let span = after(&timer, 0, 600_000);
        announce.send(span).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        drop(announce);
        let found = meter.finish();
        // It may have had no time to begin.
        if found.is_some() {
            assert!(window(&found).1 < span.end_ns);
        }
    }

    /// This process is busy before the span and after it: that is none of the span's time.
    #[cfg(target_os = "linux")]
    #[test]
    fn work_outside_the_span_does_not_count_and_work_inside_does() {
        let timer = timer();
        let cpus = std::thread::available_parallelism().unwrap().get() as u64;
        let busy = |until_ns: u64| {
            while timer.now_ns() < until_ns {
                std::hint::spin_loop();
            }
        };
        // What a process can have had is the time of all CPUs; accounts lag a tick of 10 ms a CPU.
        let most = |found: &Option<Metered>| {
            let (from_ns, to_ns) = window(found);
            (to_ns - from_ns + 20 * MS) * cpus
        };
        let had = |found: &Option<Metered>| {
            let counted = &found.as_ref().expect("a span has begun").counted;
            counted.agent_cpu_ns.expect("Linux reports it")
        };
        let (meter, announce) = Meter::start(timer);
        let span = after(&timer, 1_000, 1_050);
        announce.send(span).unwrap();
        busy(span.start_ns - 20 * MS);
        timer.wait_until(span.end_ns + 20 * MS);
        busy(span.end_ns + 1_000 * MS);
        drop(announce);
        let found = meter.finish();
        assert!(had(&found) <= most(&found), "{} ns", had(&found));

        let (meter, announce) = Meter::start(timer);
        let span = after(&timer, 10, 310);
        announce.send(span).unwrap();
        let own = pentathlon_os::rusage::own().unwrap();
        busy(span.end_ns + 10 * MS);
        let whole = pentathlon_os::rusage::own().unwrap();
        drop(announce);
        let spent = |one: pentathlon_os::rusage::Usage| one.user_ns + one.system_ns;
        // Nearly all of it lay inside; half leaves room for other tests' threads and the ticks.
        assert!(2 * had(&meter.finish()) > (spent(whole) - spent(own)) / 2);
    }
}
