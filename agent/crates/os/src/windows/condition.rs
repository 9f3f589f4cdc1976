//! A slim reader-writer lock, held alone, with a condition variable: `AcquireSRWLockExclusive`,
//! `SleepConditionVariableSRW`.

use std::cell::UnsafeCell;
use std::io;
use windows_sys::Win32::System::Threading::{
    AcquireSRWLockExclusive, ReleaseSRWLockExclusive, SleepConditionVariableSRW,
    WakeConditionVariable, CONDITION_VARIABLE, INFINITE, SRWLOCK,
};

/// A number that threads wait for, under a lock with one condition variable.
pub struct Turn {
    lock: UnsafeCell<SRWLOCK>,
    changed: UnsafeCell<CONDITION_VARIABLE>,
    value: UnsafeCell<u64>,
}

// SAFETY: `value` is reached under the lock only; the system's objects are made to be shared.
unsafe impl Sync for Turn {}
// SAFETY: the objects are boxed by `new` and do not move while threads use them.
unsafe impl Send for Turn {}

impl Turn {
    /// Boxed, because the system's objects must stay where they are.
    #[inline]
    pub fn new(value: u64) -> Box<Self> {
        Box::new(Self {
            // All zeros is SRWLOCK_INIT and CONDITION_VARIABLE_INIT.
            lock: UnsafeCell::default(),
            changed: UnsafeCell::default(),
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
        // SAFETY: initialised objects that stay where they are; the number is touched only while
        // the lock is held, and `next` cannot unwind past it without ending the test or worker.
        unsafe {
            AcquireSRWLockExclusive(self.lock.get());
            let mut slept = Ok(());
            while !wanted(*self.value.get()) {
                if SleepConditionVariableSRW(self.changed.get(), self.lock.get(), INFINITE, 0) == 0
                {
                    slept = Err(io::Error::last_os_error());
                    break;
                }
            }
            let found = *self.value.get();
            if slept.is_ok() {
                *self.value.get() = next(found);
            }
            WakeConditionVariable(self.changed.get());
            ReleaseSRWLockExclusive(self.lock.get());
            slept.map(|()| found)
        }
    }
}
