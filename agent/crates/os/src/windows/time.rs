//! The system's monotonic clock: `QueryPerformanceCounter`.

use std::sync::OnceLock;
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};

/// The performance counter in ns. It counts from the start of the machine, so readings of several
/// processes can be compared; its step is 100 ns on most systems.
#[inline]
pub fn monotonic_ns() -> u64 {
    static FREQUENCY: OnceLock<u64> = OnceLock::new();
    let frequency = *FREQUENCY.get_or_init(|| {
        let mut hertz = 0;
        // SAFETY: `hertz` is valid to write to.
        unsafe { QueryPerformanceFrequency(&mut hertz) };
        u64::try_from(hertz).unwrap_or(0).max(1)
    });
    let mut ticks = 0;
    // SAFETY: `ticks` is valid to write to.
    unsafe { QueryPerformanceCounter(&mut ticks) };
    let ticks = u64::try_from(ticks).unwrap_or(0);
    // In two parts: ticks times 10^9 would overflow after half an hour at 10 MHz.
    ticks / frequency * 1_000_000_000 + ticks % frequency * 1_000_000_000 / frequency
}
