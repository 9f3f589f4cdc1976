//! Events that reset themselves: `eventfd(2)`.

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
            if descriptor < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self(OwnedFd::from_raw_fd(descriptor)))
        }
    }

    #[inline(always)]
    pub fn set(&self) -> io::Result<()> {
        let one = 1_u64;
        // SAFETY: the descriptor is open, and the kernel reads the eight bytes of the number.
        let written = unsafe { libc::write(self.0.as_raw_fd(), (&raw const one).cast(), 8) };
        if written != 8 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    /// Sleeps until the event is set, and resets it.
    #[inline(always)]
    pub fn wait(&self) -> io::Result<()> {
        let mut count = 0_u64;
        loop {
            // SAFETY: the descriptor is open, and the kernel writes the eight bytes of the number.
            let read = unsafe { libc::read(self.0.as_raw_fd(), (&raw mut count).cast(), 8) };
            if read == 8 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }
}
