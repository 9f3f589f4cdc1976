//! The four implementations of one computation (venkata2003, Fig. 27): for each i of
//! `repetitions`, an array of `size` integers is allocated, filled with 0, 1, 2, ..., i + j is added
//! to each element j, the elements are summed, and the array is freed.
//!
//! All four hold the same loops, with the same barriers against the compiler in the same places;
//! they differ only in how a repetition is reached. Sums are 64 bits wide, where the paper's
//! overflow.

use crate::sys::child::{self, Exit};
use crate::sys::heap::Integers;
use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read, Write};

/// One repetition: the loops themselves. Without memory it is 0, which no caller takes for a sum.
#[inline(always)]
fn repetition(i: u64, size: usize) -> u64 {
    let Some(mut array) = Integers::new(black_box(size)) else {
        return 0;
    };
    let mut sum = 0;
    for (j, element) in array.indices().iter_mut().enumerate() {
        *element += i as u32 + j as u32;
        sum += u64::from(*element);
    }
    sum
}

/// The loops stand where they are used.
#[inline(never)]
pub fn inline(repetitions: u64, size: usize) -> u64 {
    let mut total = 0;
    for i in 0..repetitions {
        total += black_box(repetition(black_box(i), size));
    }
    total
}

/// One call for each repetition.
#[inline(never)]
pub fn function(repetitions: u64, size: usize) -> u64 {
    let mut total = 0;
    for i in 0..repetitions {
        total += black_box(called(black_box(i), size));
    }
    total
}

#[inline(never)]
fn called(i: u64, size: usize) -> u64 {
    repetition(i, size)
}

/// `repetitions` calls deep; the loops run on the way back. Besides the sum it yields the bytes of
/// stack that the calls took, which proves that they were made.
#[inline(never)]
pub fn recursion(repetitions: u64, size: usize) -> (u64, usize) {
    let mut deepest = 0;
    let total = descend(repetitions - 1, size, &mut deepest);
    (total, stack_pointer().saturating_sub(deepest))
}

#[inline(never)]
fn descend(i: u64, size: usize, deepest: &mut usize) -> u64 {
    let before = if i > 0 {
        black_box(descend(i - 1, size, deepest))
    } else {
        *deepest = stack_pointer();
        0
    };
    before + repetition(black_box(i), size)
}

/// About where the stack of the caller ends.
#[inline(never)]
fn stack_pointer() -> usize {
    let here = 0_u8;
    black_box(std::ptr::addr_of!(here)) as usize
}

/// A process for each repetition. It sends its sum over a pipe and ends; the parent first waits for
/// it, then reads.
#[inline(never)]
pub fn forked(repetitions: u64, size: usize, pipe: &mut (File, File)) -> io::Result<u64> {
    let (from, to) = pipe;
    let mut total = 0;
    for i in 0..repetitions {
        let child = child::fork(|| {
            let sum = black_box(repetition(black_box(i), size));
            u8::from(to.write_all(&sum.to_ne_bytes()).is_err())
        })?;
        let exit = child.wait()?;
        // Without its sum in the pipe, reading would wait for ever.
        if exit != Exit::Code(0) {
            return Err(io::Error::other("a child ended without sending its sum"));
        }
        let mut sum = [0; 8];
        from.read_exact(&mut sum)?;
        total += u64::from_ne_bytes(sum);
    }
    Ok(total)
}

/// The sum in closed form: for each i, the sum over j of 2j + i.
pub fn expected(repetitions: u64, size: u64) -> u64 {
    repetitions * size * (size - 1) + size * (repetitions * (repetitions - 1) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::descriptor;

    /// The nested loops as the paper has them, without the array.
    fn by_hand(repetitions: u64, size: u64) -> u64 {
        (0..repetitions)
            .flat_map(|i| (0..size).map(move |j| j + i + j))
            .sum()
    }

    #[test]
    fn all_four_and_the_closed_form_agree_with_the_sum_by_hand() {
        let mut pipe = descriptor::pipe().unwrap();
        for (repetitions, size) in [(1, 1), (1, 100), (2, 3), (17, 1000), (64, 1)] {
            let sum = by_hand(repetitions, size);
            let length = size as usize;
            let sums = [
                inline(repetitions, length),
                function(repetitions, length),
                recursion(repetitions, length).0,
                forked(repetitions, length, &mut pipe).unwrap(),
                expected(repetitions, size),
            ];
            assert_eq!(sums, [sum; 5], "{repetitions} repetitions of {size}");
        }
    }

    #[test]
    fn the_recursion_is_as_deep_as_its_repetitions() {
        let stack = |repetitions| recursion(repetitions, 1).1;
        let (shallow, deep) = (stack(100), stack(1100));
        assert!(
            deep - shallow >= 1000 * 16,
            "{shallow} and {deep} bytes of stack"
        );
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
