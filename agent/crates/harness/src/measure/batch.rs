//! How many operations one timed batch holds.
//!
//! The batch grows until it takes the wanted time; then a quarter of it is timed, and the whole
//! must take clearly longer. A loop that the compiler removed, a cached answer or a body that
//! ignores its count does not, and is an error, not a number.

use super::Failure;

/// Batches above this have no measurable time.
const LARGEST: u64 = 1 << 42;
/// The whole batch must take at least this many times a quarter of it; 4 would be exact.
const LEAST_GROWTH: f64 = 2.0;
/// How often the growth is looked at before it is believed not to be there. A busy neighbour or a
/// scheduler's slice stretches single batches many times over, so one clean quarter must suffice.
const ATTEMPTS: u32 = 32;

/// A batch of an earlier boot is kept while it takes from so many times the wanted time on ...
const SHORTEST_KEPT: f64 = 0.6;
/// ... to so many times.
const LONGEST_KEPT: f64 = 2.0;
/// How often it is timed before it is given up as too long.
const KEPT_ATTEMPTS: u32 = 3;

/// Finds the batch for `target_ns`. `time(n)` runs and times a batch of n operations, in ns.
pub fn size(
    target_ns: f64,
    mut time: impl FnMut(u64) -> Result<f64, Failure>,
) -> Result<u64, Failure> {
    let mut operations = 1u64;
    let mut elapsed = time(operations)?;
    loop {
        if elapsed >= 0.8 * target_ns {
            // A cold cache or a neighbour can stretch one batch; only what stays long is long.
            elapsed = elapsed.min(time(operations)?);
        }
        if elapsed >= 0.8 * target_ns {
            break;
        }
        if operations >= LARGEST {
            return Err(Failure::Invalid(format!(
                "{LARGEST} operations take no measurable time: the work was not done"
            )));
        }
        // Growth is bounded, because the first batches also pay for cold caches and page faults.
        let growth = (target_ns / elapsed.max(1.0)).clamp(1.5, 16.0);
        operations = ((operations as f64 * growth).ceil() as u64).clamp(operations + 1, LARGEST);
        elapsed = time(operations)?;
    }
    guard(operations, elapsed, time)?;
    Ok(operations)
}

/// A batch that an earlier boot has sized, if it still takes about `target_ns`; none if it does not,
/// and a size is to be looked for. That time grows with the work was proven when it was sized.
pub fn keep(
    operations: u64,
    target_ns: f64,
    mut time: impl FnMut(u64) -> Result<f64, Failure>,
) -> Result<Option<u64>, Failure> {
    for _ in 0..KEPT_ATTEMPTS {
        let elapsed = time(operations)?;
        if elapsed < SHORTEST_KEPT * target_ns {
            return Ok(None);
        }
        if elapsed <= LONGEST_KEPT * target_ns || operations == 1 {
            return Ok(Some(operations));
        }
        // The first batch of a process pays for cold caches, and a neighbour may stretch any.
    }
    Ok(None)
}

fn guard(
    operations: u64,
    elapsed: f64,
    mut time: impl FnMut(u64) -> Result<f64, Failure>,
) -> Result<(), Failure> {
    let quarter = operations / 4;
    if quarter < 2 {
        // One operation alone takes more than a tenth of the wanted time: it did something.
        return Ok(());
    }
    let mut wholes = vec![elapsed];
    let mut parts = Vec::new();
    for _ in 0..ATTEMPTS {
        parts.push(time(quarter)?);
        // Noise is of two kinds: slices that are lost now and then, which the least reading is free
        // of, and modes that come and go, such as a file system that commits, which the median
        // sees on both sides alike. Either proof will do; a body that ignores its count has none.
        if least(&wholes) >= LEAST_GROWTH * least(&parts)
            || median(&wholes) >= LEAST_GROWTH * median(&parts)
        {
            return Ok(());
        }
        wholes.push(time(operations)?);
    }
    Err(Failure::Invalid(format!(
        "{operations} operations took {:.0} ns and {quarter} took {:.0} ns: time does not grow with \
         the work, so the work was not done",
        median(&wholes),
        median(&parts)
    )))
}

fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proportional_body_gets_a_batch_of_the_wanted_length() {
        for cost in [0.3, 7.0, 950.0, 40_000.0] {
            let batch = size(1e6, |n| Ok(50.0 + cost * n as f64)).unwrap();
            let elapsed = cost * batch as f64;
            assert!((0.7e6..=2.0e6).contains(&elapsed), "{cost}: {elapsed}");
        }
    }

    #[test]
    fn an_operation_longer_than_the_target_is_done_once() {
        assert_eq!(size(1e6, |n| Ok(5e7 * n as f64)).unwrap(), 1);
    }

    #[test]
    fn a_first_batch_that_was_stretched_does_not_end_the_sizing() {
        let mut calls = 0;
        let batch = size(1e6, |n| {
            calls += 1;
            Ok(100.0 * n as f64 + if calls == 1 { 5e6 } else { 0.0 })
        });
        assert!((7_000..=20_000).contains(&batch.unwrap()));
    }

    #[test]
    fn a_removed_loop_is_invalid() {
        let removed = size(1e6, |_| Ok(20.0));
        assert!(matches!(removed, Err(Failure::Invalid(_))));
    }

    #[test]
    fn a_body_that_takes_long_whatever_the_count_is_invalid() {
        let flat = size(1e6, |n| Ok(if n == 1 { 10.0 } else { 1e6 }));
        assert!(matches!(flat, Err(Failure::Invalid(_))), "{flat:?}");
    }

    #[test]
    fn one_stretched_batch_does_not_condemn_an_honest_body() {
        let mut calls = 0;
        let batch = size(1e6, |n| {
            calls += 1;
            // The first quarter batch after sizing is hit by a neighbour.
            let hit = if n == 2500 && calls < 9 { 5e6 } else { 0.0 };
            Ok(100.0 * n as f64 + hit)
        });
        assert!(batch.is_ok(), "{batch:?}");
    }

    #[test]
    fn a_machine_that_stretches_most_batches_does_not_condemn_an_honest_body() {
        for seed in 0..200u64 {
            let mut state = seed;
            let batch = size(1e6, |n| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                // Three batches of four lose one to four slices of 4 ms.
                let slices = if (state >> 33) % 4 == 0 {
                    0
                } else {
                    (state >> 40) % 4 + 1
                };
                Ok(100.0 * n as f64 + 4e6 * slices as f64)
            });
            assert!(batch.is_ok(), "seed {seed}: {batch:?}");
        }
    }

    #[test]
    fn modes_that_come_and_go_do_not_condemn_an_honest_body() {
        // Five times slower in four stretches of five, as a file system that commits.
        let mut calls = 0;
        let batch = size(1e6, |n| {
            calls += 1;
            let slow = if calls % 5 == 0 { 1.0 } else { 5.0 };
            Ok(10_000.0 * n as f64 * slow)
        });
        assert!(batch.is_ok(), "{batch:?}");
    }

    #[test]
    fn a_known_batch_is_kept_while_it_takes_about_as_long() {
        let kept = |cost: f64| keep(1000, 1e6, |n| Ok(cost * n as f64)).unwrap();
        assert_eq!(kept(1000.0), Some(1000));
        assert_eq!(kept(700.0), Some(1000));
        assert_eq!(kept(500.0), None);
        assert_eq!(kept(2500.0), None);
        // A single operation that takes long has no smaller batch.
        assert_eq!(keep(1, 1e6, |_| Ok(9e9)).unwrap(), Some(1));
        let failure = Failure::Failed("no".into());
        assert_eq!(keep(1, 1e6, |_| Err(failure.clone())), Err(failure));
    }

    #[test]
    fn one_stretched_batch_does_not_end_a_known_size() {
        let mut calls = 0;
        let kept = keep(1000, 1e6, |_| {
            calls += 1;
            Ok(if calls == 1 { 5e6 } else { 1e6 })
        });
        assert_eq!(kept, Ok(Some(1000)));
        assert_eq!(calls, 2);
    }

    #[test]
    fn a_failure_inside_the_body_ends_the_sizing() {
        let failure = Failure::Failed("no".into());
        assert_eq!(size(1e6, |_| Err(failure.clone())), Err(failure));
    }
}
