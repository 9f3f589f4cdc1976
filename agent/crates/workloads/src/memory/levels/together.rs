//! Latency while all CPUs wait for memory: each thread follows a ring of its own.

use super::super::arena::Arena;
use super::super::latency::{self, Walk};
use super::super::{sizes, worker_pool};
use pentathlon_harness::measure::{Body, Context, Failure, Reading};
use pentathlon_os::region::Pages;
use pentathlon_protocol::Case;

/// Every round is one window, and its value the mean over the threads of a load's time in ns.
pub fn measure(context: &mut Context<'_>, case: &Case, bytes: usize) -> Result<(), Failure> {
    let cpus = worker_pool::cpus()?;
    let arenas: Result<Vec<Arena>, Failure> = cpus
        .iter()
        .map(|_| Arena::new(&[bytes], Pages::Default))
        .collect();
    let mut arenas = arenas?;
    let mut members = members(&cpus, &mut arenas, bytes, context.seed)?;
    context.rounds(case, |clock, sample_ns| {
        let shares = worker_pool::window(&mut members, sample_ns, clock)?;
        Ok(vec![Reading {
            metric: "latency",
            case: case.clone(),
            value: mean_ns(&shares),
            operations: shares.iter().map(|share| share.operations).sum(),
            elapsed_ns: shares.iter().map(|s| s.elapsed_ns).fold(0.0, f64::max),
            checksum: worker_pool::agreed(&shares)?,
        }])
    });
    Ok(())
}

/// A ring for each CPU, in memory that a thread on that CPU touched first.
fn members<'a>(
    cpus: &[Option<usize>],
    arenas: &'a mut [Arena],
    bytes: usize,
    seed: u64,
) -> Result<Vec<worker_pool::Member<'a>>, Failure> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = cpus
            .iter()
            .zip(arenas)
            .map(|(&cpu, arena)| {
                scope.spawn(move || {
                    worker_pool::bind(cpu)?;
                    let stride = sizes::LINE_BYTES;
                    latency::build(arena, bytes, stride, Pages::Default, seed)
                })
            })
            .collect();
        let chains = cpus.iter().zip(worker_pool::joined(threads)?);
        let member = |(&cpu, chain)| worker_pool::Member {
            cpu,
            body: Box::new(Walk::along(chain)) as Box<dyn Body + Send>,
        };
        Ok(chains.map(member).collect())
    })
}

/// Each thread counts once, however many loads it made.
fn mean_ns(shares: &[worker_pool::Share]) -> f64 {
    let each = shares
        .iter()
        .map(|share| share.elapsed_ns / share.operations as f64);
    each.sum::<f64>() / shares.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_harness::clock::{calibrate, Clock};

    #[test]
    fn every_thread_walks_its_own_ring_and_all_rings_are_equal() {
        let clock = Clock::of(&calibrate());
        let cpus = [None, None, None];
        let mut arenas: Vec<Arena> = (0..3)
            .map(|_| Arena::new(&[65_536], Pages::Default).unwrap())
            .collect();
        let mut members = members(&cpus, &mut arenas, 65_536, 5).unwrap();
        let mut sums = Vec::new();
        for _ in 0..2 {
            let shares = worker_pool::window(&mut members, 1e5, &clock).unwrap();
            assert!(shares.iter().all(|share| share.operations > 0));
            sums.push(worker_pool::agreed(&shares).unwrap());
        }
        assert_eq!(sums[0], sums[1]);
    }

    #[test]
    fn the_mean_is_that_of_the_threads_and_not_of_the_loads() {
        let share = |operations, elapsed_ns| worker_pool::Share {
            operations,
            elapsed_ns,
            checksum: 0,
        };
        let mean = mean_ns(&[share(100, 1000.0), share(10, 1000.0)]);
        assert!((mean - 55.0).abs() < 1e-9, "{mean}");
    }
}
