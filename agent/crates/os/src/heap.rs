//! The C library's heap, `malloc(3)` and `free(3)`, by loops that are compiled at a level.

use crate::outcome::{self, Ended};
use pentathlon_code::{Heap, Level};

pub const HEAP: Heap = Heap {
    allocate: libc::malloc,
    free: libc::free,
};

/// Allocates a block of so many bytes, writes and reads its ends and frees it, again and again; how
/// often the ends held what was written.
#[inline]
pub fn malloc_free(level: Level, operations: u64, bytes: usize) -> Result<u64, Ended> {
    assert!(bytes > 0, "an empty block has no ends");
    // SAFETY: these are a heap's functions.
    outcome::of(unsafe { (level.loops.malloc_free)(operations, &HEAP, bytes) })
}

/// The sum of the nested loops, which stand in the body of the outer one.
#[inline]
pub fn inline(level: Level, repetitions: u64, size: usize) -> u64 {
    // SAFETY: as above, also in what follows.
    unsafe { (level.loops.inline)(&HEAP, repetitions, size) }
}

/// The same, with the inner loops in a function.
#[inline]
pub fn function(level: Level, repetitions: u64, size: usize) -> u64 {
    // SAFETY: see above.
    unsafe { (level.loops.function)(&HEAP, repetitions, size) }
}

/// The same as a recursion; and the bytes of stack that it took.
#[inline]
pub fn recursion(level: Level, repetitions: u64, size: usize) -> (u64, usize) {
    assert!(repetitions > 0, "a recursion has a last level");
    // SAFETY: see above.
    unsafe { level.recursion(&HEAP, repetitions, size) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_code::levels;

    #[test]
    fn every_block_keeps_its_ends_apart() {
        for level in levels() {
            for bytes in [1, 2, 4, 4096, 1 << 20] {
                assert_eq!(malloc_free(level, 20, bytes).unwrap(), 20, "{bytes}");
            }
        }
    }

    #[test]
    fn an_impossible_block_is_refused() {
        for level in levels() {
            let ended = malloc_free(level, 5, isize::MAX as usize).unwrap_err();
            assert_eq!(ended.call, 1);
        }
    }
}
