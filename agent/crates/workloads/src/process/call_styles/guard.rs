//! Proof that the loops were not removed: a style that does its work takes longer for more of it.
//! The sum alone is no proof, because a compiler may find its closed form.

use pentathlon_harness::measure::Failure;
use std::time::{Duration, Instant};

/// The larger study does 64 times the work of the smaller one.
const FEW: u64 = 16;
const MANY: u64 = 1024;
const SHORT: usize = 256;
const LONG: usize = 16_384;
/// It must take twice the time, which leaves room for a clock that costs 20 us to read, and
/// somewhat more, which a clock with coarse steps cannot make up.
const GROWTH: u32 = 2;
const STEP: Duration = Duration::from_micros(1);
/// A neighbour can stretch a short study: the best of a few counts.
const ATTEMPTS: u32 = 8;

/// Repetitions of the deepest study that is tried.
pub const DEEPEST: u64 = MANY;

/// Checks that the time of `kernel(repetitions, size)` grows with both.
pub fn check(
    style: &str,
    mut kernel: impl FnMut(u64, usize) -> Result<u64, Failure>,
) -> Result<(), Failure> {
    let mut time = |repetitions, size| {
        let start = Instant::now();
        std::hint::black_box(kernel(repetitions, size))?;
        Ok(start.elapsed())
    };
    grows(style, "repetitions", |more| {
        time(if more { MANY } else { FEW }, SHORT)
    })?;
    grows(style, "size", |more| {
        time(FEW, if more { LONG } else { SHORT })
    })
}

fn grows(
    style: &str,
    factor: &str,
    mut time: impl FnMut(bool) -> Result<Duration, Failure>,
) -> Result<(), Failure> {
    let (mut less, mut more) = (Duration::MAX, Duration::MAX);
    for _ in 0..ATTEMPTS {
        less = less.min(time(false)?);
        more = more.min(time(true)?);
    }
    if more >= GROWTH * less + STEP {
        return Ok(());
    }
    Err(Failure::Invalid(format!(
        "{style}: the time does not grow with the {factor} ({less:?} and {more:?}), so the work was \
         not done"
    )))
}

#[cfg(test)]
mod tests {
    use super::super::kernels;
    use super::*;

    #[test]
    fn every_style_does_its_work() {
        for level in pentathlon_code::levels() {
            assert_eq!(
                check("inline", |n, size| Ok(kernels::inline(level, n, size))),
                Ok(())
            );
            assert_eq!(
                check("function", |n, size| Ok(kernels::function(level, n, size))),
                Ok(())
            );
            assert_eq!(
                check("recursion", |n, size| Ok(kernels::recursion(
                    level, n, size
                )
                .0)),
                Ok(())
            );
        }
    }

    fn time(less: u64, more: u64) -> Result<(), Failure> {
        grows("inline", "size", |larger| {
            Ok(Duration::from_micros(if larger { more } else { less }))
        })
    }

    #[test]
    fn a_closed_form_in_place_of_the_loops_is_caught() {
        let found = check("inline", |n, size| Ok(kernels::expected(n, size as u64)));
        assert!(matches!(found, Err(Failure::Invalid(_))), "{found:?}");
    }

    #[test]
    fn a_slow_clock_hides_neither_the_work_nor_its_absence() {
        assert_eq!(time(21, 100), Ok(()));
        assert!(time(20, 21).is_err());
        assert!(time(0, 0).is_err());
    }

    #[test]
    fn one_stretched_study_changes_nothing() {
        let mut calls = 0;
        let mut stretched = |less: u64, more: u64| {
            grows("inline", "size", |larger| {
                calls += 1;
                let hit = if calls < 3 { 5000 } else { 0 };
                Ok(Duration::from_micros(
                    hit + if larger { more } else { less },
                ))
            })
        };
        assert_eq!(stretched(2, 100), Ok(()));
        assert!(stretched(20, 21).is_err());
    }
}
