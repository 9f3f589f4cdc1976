//! Threads without a language's runtime: `pthread_create(3)`, `pthread_join(3)`. The standard
//! library's threads also set up a signal stack each and look at their own stack's bounds, which
//! costs system calls of its own.

use crate::call::numbered;
use std::io;

/// How the threads are made; a stack of so many bytes each, or the least that the C library takes,
/// which depends on the architecture (128 KiB for glibc on 64-bit ARM).
pub struct Maker(libc::pthread_attr_t);

impl Maker {
    /// # Errors
    /// The system has no memory for the attributes.
    #[inline]
    pub fn new(stack_bytes: usize) -> io::Result<Self> {
        // SAFETY: plain data, for which all zeros is a value; the call fills it.
        let mut maker = Self(unsafe { std::mem::zeroed() });
        // SAFETY: valid to write to.
        numbered(unsafe { libc::pthread_attr_init(&mut maker.0) })?;
        let stack_bytes = stack_bytes.max(libc::PTHREAD_STACK_MIN);
        // SAFETY: initialised above.
        numbered(unsafe { libc::pthread_attr_setstacksize(&mut maker.0, stack_bytes) })?;
        Ok(maker)
    }

    /// Makes a thread that returns the number changed ([`changed`]), and waits for its end.
    #[inline(always)]
    pub fn start_and_join(&self, number: usize) -> io::Result<usize> {
        // SAFETY: a handle, or a number that the call fills.
        let mut thread: libc::pthread_t = unsafe { std::mem::zeroed() };
        let argument = std::ptr::without_provenance_mut(number);
        // SAFETY: attributes that were initialised; the function takes any argument and touches
        // nothing; the thread is joined below, and only there.
        let made = unsafe { libc::pthread_create(&mut thread, &self.0, work, argument) };
        numbered(made)?;
        let mut result = std::ptr::null_mut();
        // SAFETY: a thread that was made and not joined yet.
        numbered(unsafe { libc::pthread_join(thread, &mut result) })?;
        Ok(result.addr())
    }
}

impl Drop for Maker {
    fn drop(&mut self) {
        // SAFETY: initialised in `new`, not used any more.
        unsafe { libc::pthread_attr_destroy(&mut self.0) };
    }
}

/// What a new thread makes of its number.
#[inline]
pub fn changed(number: usize) -> usize {
    !number
}

extern "C" fn work(argument: *mut libc::c_void) -> *mut libc::c_void {
    std::ptr::without_provenance_mut(changed(argument.addr()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_gives_back_its_own_number_changed() {
        let maker = Maker::new(64 << 10).unwrap();
        for number in [0, 5, usize::MAX] {
            assert_eq!(maker.start_and_join(number).unwrap(), changed(number));
        }
    }

    #[test]
    fn a_stack_that_is_too_small_is_the_least_there_is() {
        let maker = Maker::new(1).unwrap();
        assert_eq!(maker.start_and_join(5).unwrap(), changed(5));
    }
}
