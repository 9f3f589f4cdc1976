//! Events that reset themselves: `eventfd(2)`.

use crate::call::{check, check_uninterrupted};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// An event that is either set or not; a thread that waited for it has reset it.
#[derive(Debug)]
pub struct Event(OwnedFd);

impl Event {
    #[inline]
    pub fn new() -> io::Result<Self> {
        // SAFETY: plain integers; the descriptor is new and ours.
        unsafe {
            let descriptor = libc::eventfd(0, libc::EFD_CLOEXEC);
            check(descriptor >= 0)?;
            Ok(Self(OwnedFd::from_raw_fd(descriptor)))
        }
    }

    #[inline(always)]
    pub fn set(&self) -> io::Result<()> {
        let one = 1_u64;
        // SAFETY: the descriptor is open, and the kernel reads the eight bytes of the number.
        let written = unsafe { libc::write(self.0.as_raw_fd(), (&raw const one).cast(), 8) };
        check(written == 8)
    }

    /// Sleeps until the event is set, and resets it.
    #[inline(always)]
    pub fn wait(&self) -> io::Result<()> {
        let mut count = 0_u64;
        let place = (&raw mut count).cast();
        // SAFETY: the descriptor is open, and the kernel writes the eight bytes of the number.
        check_uninterrupted(|| unsafe { libc::read(self.0.as_raw_fd(), place, 8) } == 8)
    }
}
