//! The four implementations of one computation (venkata2003, Fig. 27): for each i of
//! `repetitions`, an array of `size` integers is allocated, filled with 0, 1, 2, ..., i + j is added
//! to each element j, the elements are summed, and the array is freed. The loops themselves are in
//! agent/code/src/styles.rs, compiled at every level.

use super::super::refusal;
use pentathlon_code::Level;
use pentathlon_harness::measure::Failure;
use pentathlon_os::child;
pub use pentathlon_os::heap::{function, inline, recursion};
use std::fs::File;

/// A process for each repetition.
pub fn forked(
    level: Level,
    repetitions: u64,
    size: usize,
    pipe: &(File, File),
) -> Result<u64, Failure> {
    child::forked(level, repetitions, size, pipe).map_err(|ended| match ended.call {
        1 => refusal::of_fork(&ended.error),
        2 => Failure::Failed("a child ended without sending its sum".into()),
        _ => Failure::system("reading a child's sum", &ended.error),
    })
}

/// The sum in closed form: for each i, the sum over j of 2j + i.
pub fn expected(repetitions: u64, size: u64) -> u64 {
    repetitions * size * (size - 1) + size * (repetitions * (repetitions - 1) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_code::levels;
    #[cfg(unix)]
    use pentathlon_os::descriptor;

    /// The nested loops as the paper has them, without the array.
    fn by_hand(repetitions: u64, size: u64) -> u64 {
        (0..repetitions)
            .flat_map(|i| (0..size).map(move |j| j + i + j))
            .sum()
    }

    #[test]
    fn all_styles_and_the_closed_form_agree_with_the_sum_by_hand() {
        for (repetitions, size) in [(1, 1), (1, 100), (2, 3), (17, 1000), (64, 1)] {
            let sum = by_hand(repetitions, size);
            assert_eq!(expected(repetitions, size), sum);
            for level in levels() {
                let length = size as usize;
                let sums = [
                    inline(level, repetitions, length),
                    function(level, repetitions, length),
                    recursion(level, repetitions, length).0,
                ];
                assert_eq!(sums, [sum; 3], "{repetitions} of {size}, {}", level.name);
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn processes_compute_the_same_sum() {
        let pipe = descriptor::pipe().unwrap();
        for level in levels() {
            assert_eq!(forked(level, 3, 100, &pipe), Ok(by_hand(3, 100)));
        }
    }

    #[test]
    fn the_recursion_is_as_deep_as_its_repetitions() {
        for level in levels() {
            let stack = |repetitions| recursion(level, repetitions, 1).1;
            let (shallow, deep) = (stack(100), stack(1100));
            assert!(
                deep - shallow >= 1000 * 16,
                "{shallow} and {deep} bytes of stack"
            );
        }
    }

    #[test]
    fn the_largest_study_does_not_overflow() {
        let (repetitions, size) = (super::super::MOST_REPETITIONS, super::super::LARGEST_SIZE);
        let wide = u128::from(repetitions) * u128::from(size) * u128::from(size - 1)
            + u128::from(size) * u128::from(repetitions) * u128::from(repetitions - 1) / 2;
        assert_eq!(u128::from(expected(repetitions, size)), wide);
        assert!(
            2 * (size - 1) + repetitions <= u64::from(u32::MAX),
            "an element must not wrap"
        );
    }
}
