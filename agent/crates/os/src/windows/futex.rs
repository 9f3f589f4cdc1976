//! Sleeping on a word of memory and waking who sleeps there: `WaitOnAddress`.

use crate::call::check;
use std::io;
use std::sync::atomic::AtomicU32;
use windows_sys::Win32::System::Threading::{WaitOnAddress, WakeByAddressSingle, INFINITE};

/// Sleeps while the word holds `value`, until it is woken. Returns at once if it holds another; can
/// return for no reason.
#[inline(always)]
pub fn wait(word: &AtomicU32, value: u32) -> io::Result<()> {
    // SAFETY: both words live to the end of the call and have the length that is said.
    let done = unsafe {
        WaitOnAddress(
            word.as_ptr().cast(),
            (&raw const value).cast(),
            std::mem::size_of::<u32>(),
            INFINITE,
        )
    };
    check(done != 0)
}

/// Wakes one thread that sleeps on the word; the system does not report whether there was one.
#[inline(always)]
pub fn wake(word: &AtomicU32) -> io::Result<u32> {
    // SAFETY: the word outlives the call.
    unsafe { WakeByAddressSingle(word.as_ptr().cast()) };
    Ok(0)
}
