//! The requests of a queue: overlapped `ReadFile` and `WriteFile`, with a completion port
//! (`CreateIoCompletionPort`, `GetQueuedCompletionStatusEx`).

use super::queue::Completion;
use crate::call::check;
use std::fs::File;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use windows_sys::Win32::Foundation::{ERROR_HANDLE_EOF, ERROR_IO_PENDING};
use windows_sys::Win32::Storage::FileSystem::{ReadFile, WriteFile};
use windows_sys::Win32::System::Threading::INFINITE;
use windows_sys::Win32::System::IO::{
    CreateIoCompletionPort, GetOverlappedResult, GetQueuedCompletionStatusEx, OVERLAPPED,
    OVERLAPPED_ENTRY,
};

pub struct Requests {
    port: OwnedHandle,
    /// What the system writes the state of each slot's request to. Reached by raw pointers alone:
    /// the system writes there while the program runs on.
    states: *mut OVERLAPPED,
    under_way: usize,
    /// Requests that were refused at once: no completion comes for them.
    refused: Vec<Completion>,
    entries: Vec<OVERLAPPED_ENTRY>,
}

impl Requests {
    pub fn new(file: &File, depth: usize) -> io::Result<Self> {
        // SAFETY: the file is open; a new port is made, which is ours.
        let port = unsafe {
            let port = CreateIoCompletionPort(file.as_raw_handle(), std::ptr::null_mut(), 0, 1);
            check(!port.is_null())?;
            OwnedHandle::from_raw_handle(port)
        };
        let states = vec![OVERLAPPED::default(); depth].into_boxed_slice();
        Ok(Self {
            port,
            states: Box::into_raw(states).cast(),
            under_way: 0,
            refused: Vec::new(),
            entries: vec![OVERLAPPED_ENTRY::default(); depth],
        })
    }

    /// # Safety
    /// File and bytes stay until the request is over, and nobody else uses the bytes; the slot is
    /// one of the queue's, and nothing is under way in it.
    #[inline]
    pub unsafe fn put(
        &mut self,
        file: &File,
        slot: usize,
        write: bool,
        bytes: *mut u8,
        length: u32,
        position: u64,
    ) {
        let mut state = OVERLAPPED::default();
        state.Anonymous.Anonymous.Offset = position as u32;
        state.Anonymous.Anonymous.OffsetHigh = (position >> 32) as u32;
        let file = file.as_raw_handle();
        let moved = std::ptr::null_mut();
        // SAFETY: the caller's promise; the states stay as long as anything is under way.
        let done = unsafe {
            let place = self.states.add(slot);
            place.write(state);
            if write {
                WriteFile(file, bytes, length, moved, place)
            } else {
                ReadFile(file, bytes, length, moved, place)
            }
        };
        self.under_way += 1;
        if let Err(error) = check(done != 0) {
            if error.raw_os_error() != Some(ERROR_IO_PENDING as i32) {
                self.refused.push((slot, at_end(error)));
            }
        }
    }

    /// Waits until at least one request is over, and gives all that are to `each`.
    #[inline]
    pub fn wait(
        &mut self,
        file: &File,
        mut each: impl FnMut(usize, io::Result<usize>),
    ) -> io::Result<()> {
        if !self.refused.is_empty() {
            self.under_way -= self.refused.len();
            self.refused
                .drain(..)
                .for_each(|(slot, moved)| each(slot, moved));
            return Ok(());
        }
        if self.under_way == 0 {
            return Ok(());
        }
        let mut count = 0;
        // SAFETY: the port is open, and the entries are as many as is said.
        let done = unsafe {
            GetQueuedCompletionStatusEx(
                self.port.as_raw_handle(),
                self.entries.as_mut_ptr(),
                self.entries.len() as u32,
                &mut count,
                INFINITE,
                0,
            )
        };
        check(done != 0)?;
        self.under_way -= count as usize;
        for entry in &self.entries[..count as usize] {
            let mut moved = 0;
            // SAFETY: the port serves this file alone, so every state is one of ours; its request
            // is over, and nobody writes to it any more.
            let (slot, done) = unsafe {
                let slot = entry.lpOverlapped.offset_from(self.states);
                let file = file.as_raw_handle();
                let done = GetOverlappedResult(file, entry.lpOverlapped, &mut moved, 0);
                (slot as usize, done)
            };
            each(
                slot,
                check(done != 0).map_or_else(at_end, |()| Ok(moved as usize)),
            );
        }
        Ok(())
    }
}

/// A read behind the end of the file moves nothing, as it does elsewhere.
fn at_end(error: io::Error) -> io::Result<usize> {
    match error.raw_os_error() {
        Some(code) if code == ERROR_HANDLE_EOF as i32 => Ok(0),
        _ => Err(error),
    }
}

impl Drop for Requests {
    fn drop(&mut self) {
        // The system may still write to the states of what is under way, so they must outlive it.
        if self.under_way == 0 {
            let states = std::ptr::slice_from_raw_parts_mut(self.states, self.entries.len());
            // SAFETY: made by Box::into_raw with this length; nothing is under way any more.
            drop(unsafe { Box::from_raw(states) });
        }
    }
}
