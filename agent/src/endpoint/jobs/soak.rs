//! The soaker: threads that do equal units of computation for as long as they are let. Units per
//! second, against those of the idle host, is the share of the CPU that a program can have.
//!
//! Time accounts cannot tell this: a kernel that does not account for interrupts charges the
//! forwarding of packets to whatever program it interrupted (`/proc/stat`, proc(5)).

use super::Outcome;
use crate::protocol::Placement;
use serde_json::json;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Steps of a unit: some microseconds, so that a unit that is cut off at the end is no error.
const STEPS: u32 = 4096;

/// One unit: a chain of multiplications, each of which waits for the one before (Knuth, MMIX).
fn unit(mut state: u64) -> u64 {
    for _ in 0..STEPS {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
    }
    black_box(state)
}

/// Starts the soaker's threads.
pub fn start(
    threads: Option<usize>,
    placement: &Placement,
    over: &Arc<AtomicBool>,
) -> Result<Vec<JoinHandle<Outcome>>, String> {
    let count = threads
        .or_else(|| std::thread::available_parallelism().ok().map(Into::into))
        .unwrap_or(1);
    // Elsewhere a priority belongs to the whole process, and this one has packets to send.
    if !cfg!(target_os = "linux") && (placement.policy.is_some() || placement.nice.is_some()) {
        return Err("a soaker of another priority than the agent needs Linux".into());
    }
    Ok((0..count)
        .map(|_| {
            let (placement, over) = (placement.clone(), Arc::clone(over));
            std::thread::spawn(move || soak(&placement, &over))
        })
        .collect())
}

fn soak(placement: &Placement, over: &AtomicBool) -> Outcome {
    // Under Linux these calls concern the calling thread only (sched(7)).
    crate::session::place(placement).map_err(|failure| format!("{failure:?}"))?;
    let started = crate::clock::monotonic_ns();
    let before = on_cpu_ns();
    let mut state = 1;
    let mut units = 0_u64;
    while !over.load(Ordering::Relaxed) {
        state = unit(state);
        units += 1;
    }
    let cpu_ns = on_cpu_ns().zip(before).map(|(to, from)| to - from);
    Ok(json!({
        "units": units,
        "elapsed_ns": crate::clock::monotonic_ns() - started,
        "cpu_ns": cpu_ns,
        "state": format!("{state:#x}"),
    }))
}

/// CPU time of this thread, as the scheduler counts it (proc(5), `schedstat`).
fn on_cpu_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
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
