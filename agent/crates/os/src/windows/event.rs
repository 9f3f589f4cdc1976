//! Events that reset themselves: `CreateEventW`, `SetEvent`, `WaitForSingleObject`.

use crate::call::check;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use windows_sys::Win32::Foundation::WAIT_OBJECT_0;
use windows_sys::Win32::System::Threading::{
    CreateEventW, SetEvent, WaitForSingleObject, INFINITE,
};

/// An event that is either set or not; a thread that waited for it has reset it.
#[derive(Debug)]
pub struct Event(OwnedHandle);

impl Event {
    #[inline]
    pub fn new() -> io::Result<Self> {
        // SAFETY: no attributes and no name; the handle is new and ours.
        unsafe {
            let event = CreateEventW(std::ptr::null(), 0, 0, std::ptr::null());
            check(!event.is_null())?;
            Ok(Self(OwnedHandle::from_raw_handle(event)))
        }
    }

    #[inline(always)]
    pub fn set(&self) -> io::Result<()> {
        // SAFETY: the handle is open.
        check(unsafe { SetEvent(self.0.as_raw_handle()) } != 0)
    }

    /// Sleeps until the event is set, and resets it.
    #[inline(always)]
    pub fn wait(&self) -> io::Result<()> {
        // SAFETY: the handle is open.
        check(unsafe { WaitForSingleObject(self.0.as_raw_handle(), INFINITE) } == WAIT_OBJECT_0)
    }
}
