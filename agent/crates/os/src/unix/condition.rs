//! A POSIX mutex with a condition variable: `pthread_mutex_lock(3)`, `pthread_cond_wait(3)`. The
//! standard library's are its own on Linux, so they say nothing about the C library's.

use crate::call::numbered;
use std::cell::UnsafeCell;
use std::io;

/// A number that threads wait for, under a mutex with one condition variable.
pub struct Turn {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    changed: UnsafeCell<libc::pthread_cond_t>,
    value: UnsafeCell<u64>,
}

// SAFETY: `value` is reached under the mutex only; the C library's objects are made to be shared.
unsafe impl Sync for Turn {}
// SAFETY: the objects are boxed by `new` and do not move while threads use them.
unsafe impl Send for Turn {}

impl Turn {
    /// Boxed, because the C library's objects must stay where they are.
    #[inline]
    pub fn new(value: u64) -> Box<Self> {
        Box::new(Self {
            mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
            changed: UnsafeCell::new(libc::PTHREAD_COND_INITIALIZER),
            value: UnsafeCell::new(value),
        })
    }

    /// Sleeps until the number is one that `wanted` accepts, replaces it by what `next` makes of
    /// it, and wakes one who waits. Returns the number that was accepted.
    #[inline(always)]
    pub fn take(
        &self,
        wanted: impl Fn(u64) -> bool,
        next: impl FnOnce(u64) -> u64,
    ) -> io::Result<u64> {
        // SAFETY: initialised objects that stay where they are; the number is touched only between
        // lock and unlock, and `next` cannot unwind past them without ending the test or worker.
        unsafe {
            numbered(libc::pthread_mutex_lock(self.mutex.get()))?;
            while !wanted(*self.value.get()) {
                numbered(libc::pthread_cond_wait(
                    self.changed.get(),
                    self.mutex.get(),
                ))?;
            }
            let found = *self.value.get();
            *self.value.get() = next(found);
            numbered(libc::pthread_cond_signal(self.changed.get()))?;
            numbered(libc::pthread_mutex_unlock(self.mutex.get()))?;
            Ok(found)
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // SAFETY: nobody else holds a reference any more, so nobody waits or has locked it.
        unsafe {
            libc::pthread_cond_destroy(self.changed.get());
            libc::pthread_mutex_destroy(self.mutex.get());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_threads_count_in_turn() {
        let turn = Turn::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for expected in 0..100 {
                    let found = turn.take(|n| n % 2 == 1, |n| n + 1).unwrap();
                    assert_eq!(found, 2 * expected + 1);
                }
            });
            for expected in 0..100 {
                assert_eq!(turn.take(|n| n % 2 == 0, |n| n + 1).unwrap(), 2 * expected);
            }
        });
        assert_eq!(turn.take(|_| true, |n| n).unwrap(), 200);
    }
}
