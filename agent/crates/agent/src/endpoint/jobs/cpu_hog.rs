//! CPU hogs: threads that do equal units of computation for as long as they are let. Units per
//! second, against those of the idle host, is the share of the CPU that a program can have.
//!
//! Time accounts do not show this: a kernel that does not account for interrupts charges the
//! forwarding of packets to whatever program it interrupted (`/proc/stat`, proc(5)).

use super::Outcome;
use crate::endpoint::answer::{self, Yield};
use pentathlon_packets::Timer;
use pentathlon_protocol::Placement;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{mpsc, Arc};
use std::thread::JoinHandle;
use std::time::Duration;

/// Steps of a unit: some microseconds, so that a unit that is cut off at the end is no error.
const STEPS: u32 = 4096;

/// How often the reporting thread looks whether it is over.
const PATIENCE: Duration = Duration::from_millis(2);

/// Time between two notes of how far a CPU hog has come.
const NOTE_NS: u64 = 20_000_000;

/// One unit: a chain of multiplications, each of which waits for the one before (Knuth, MMIX).
fn unit(mut state: u64) -> u64 {
    for _ in 0..STEPS {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
    }
    black_box(state)
}

/// Starts the CPU hogs.
pub fn start(
    threads: Option<usize>,
    placement: &Placement,
    over: &Arc<AtomicBool>,
    timer: Timer,
) -> Result<Vec<JoinHandle<Outcome>>, String> {
    let count = threads
        .or_else(|| std::thread::available_parallelism().ok().map(Into::into))
        .unwrap_or(1);
    // Elsewhere a priority belongs to the whole process, and this one has packets to send.
    if !cfg!(target_os = "linux") && (placement.policy.is_some() || placement.nice.is_some()) {
        return Err("a CPU hog of another priority than the agent needs Linux".into());
    }
    Ok((0..count)
        .map(|_| {
            let (placement, over) = (placement.clone(), Arc::clone(over));
            std::thread::spawn(move || report(placement, &over, &timer))
        })
        .collect())
}

/// What a CPU hog has done so far.
#[derive(Default)]
struct Progress {
    units: AtomicU64,
    /// Its number in `/proc/self/task`; 0: not known.
    thread: AtomicU32,
}

/// Computes in a thread of its own and reports when it is over. The CPU hog may get no CPU for
/// seconds, and nobody must wait for it until then. How far it has come is noted all the time: the
/// CPU hog runs for longer than the flow that it is asked about.
fn report(placement: Placement, over: &Arc<AtomicBool>, timer: &Timer) -> Outcome {
    let progress = Arc::new(Progress::default());
    let (theirs, ended) = (Arc::clone(&progress), Arc::clone(over));
    let (ready, placed) = mpsc::channel();
    std::thread::spawn(move || {
        // Under Linux these calls concern the calling thread only (sched(7)).
        let outcome =
            pentathlon_session::place(&placement).map_err(|failure| format!("{failure:?}"));
        let refused = outcome.is_err();
        ready.send(outcome).ok();
        if !refused {
            soak(&theirs, &ended);
        }
    });
    placed
        .recv()
        .map_err(|_| "the CPU hog ended".to_owned())??;
    let mut notes = Vec::new();
    let mut due_ns = 0;
    loop {
        let ended = over.load(Ordering::Relaxed);
        let now = timer.now_ns();
        if ended || now >= due_ns {
            let units = progress.units.load(Ordering::Relaxed);
            let cpu_ns = on_cpu_ns(progress.thread.load(Ordering::Relaxed));
            notes.push((now, units, cpu_ns));
            due_ns = now + NOTE_NS;
        }
        if ended {
            return Ok(Yield::Soak(answer::Progress { progress: notes }));
        }
        std::thread::sleep(PATIENCE);
    }
}

fn soak(progress: &Progress, over: &AtomicBool) {
    let own = std::fs::read_link("/proc/thread-self").ok();
    let number = own.and_then(|path| path.file_name()?.to_str()?.parse().ok());
    progress
        .thread
        .store(number.unwrap_or(0), Ordering::Relaxed);
    let mut state = 1;
    let mut units = 0_u64;
    while !over.load(Ordering::Relaxed) {
        state = unit(state);
        units += 1;
        progress.units.store(units, Ordering::Relaxed);
    }
}

/// CPU time of a thread of this process, as the scheduler counts it (proc(5), `schedstat`).
fn on_cpu_ns(thread: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).ok()?;
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_the_known_chain() {
        // x -> a x + c, applied n times: a^n x + c (a^n - 1) / (a - 1), here by squaring.
        let (mut a, mut c) = (6_364_136_223_846_793_005_u64, 1_442_695_040_888_963_407_u64);
        let mut steps = 1;
        while steps < STEPS {
            c = a.wrapping_mul(c).wrapping_add(c);
            a = a.wrapping_mul(a);
            steps *= 2;
        }
        assert_eq!(unit(77), a.wrapping_mul(77).wrapping_add(c));
    }
}
