//! Sleeping on a word of memory and waking who sleeps there: `futex(2)`.

use std::io;
use std::sync::atomic::AtomicU32;

/// Sleeps while the word holds `value`, until it is woken. Returns at once if it holds another; can
/// return for no reason.
#[inline(always)]
pub fn wait(word: &AtomicU32, value: u32) -> io::Result<()> {
    // SAFETY: the word outlives the call; without a time the call waits as long as it takes.
    let result = unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            value,
            std::ptr::null::<libc::timespec>(),
        )
    };
    if result == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EINTR) => Ok(()),
        _ => Err(error),
    }
}

/// Wakes one thread that sleeps on the word; returns how many it woke, 0 or 1.
#[inline(always)]
pub fn wake(word: &AtomicU32) -> io::Result<u32> {
    // SAFETY: the word outlives the call.
    let woken = unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            1,
        )
    };
    u32::try_from(woken).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn nobody_sleeps_on_a_word_that_has_changed_and_one_who_sleeps_is_woken() {
        let word = AtomicU32::new(1);
        wait(&word, 0).unwrap();
        assert_eq!(wake(&word).unwrap(), 0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while word.load(Ordering::Acquire) == 1 {
                    wait(&word, 1).unwrap();
                }
            });
            word.store(2, Ordering::Release);
            wake(&word).unwrap();
        });
    }
}
