//! A queue of reads and writes at positions of one file: overlapped `ReadFile` and `WriteFile`, with
//! a completion port (`CreateIoCompletionPort`, `GetQueuedCompletionStatusEx`).
//!
//! The system reads and writes the buffers while the program runs on, so the queue owns them: a
//! slot's bytes can be had only while nothing is under way in it, and a queue that is dropped waits
//! for everything that is under way.

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

/// A queue over one file with a buffer for each request under way.
pub struct Queue {
    port: OwnedHandle,
    file: File,
    buffers: Vec<u8>,
    /// What the system writes the state of each slot's request to. Reached by raw pointers alone:
    /// the system writes there while the program runs on.
    states: *mut OVERLAPPED,
    skip: usize,
    block: usize,
    under_way: Vec<bool>,
    submitted: usize,
    /// Requests that were refused at once: no completion comes for them.
    refused: Vec<Completion>,
    entries: Vec<OVERLAPPED_ENTRY>,
}

/// A request that is over: its slot and the bytes that it moved.
pub type Completion = (usize, io::Result<usize>);

impl Queue {
    /// A queue of `depth` slots of `block` bytes, each beginning on a multiple of `alignment`. The
    /// file must have been opened with FILE_FLAG_OVERLAPPED.
    pub fn new(file: File, depth: usize, block: usize, alignment: usize) -> io::Result<Self> {
        assert!(depth > 0 && block.is_multiple_of(alignment), "whole blocks");
        // SAFETY: the file is open; a new port is made, which is ours.
        let port = unsafe {
            let port = CreateIoCompletionPort(file.as_raw_handle(), std::ptr::null_mut(), 0, 1);
            if port.is_null() {
                return Err(io::Error::last_os_error());
            }
            OwnedHandle::from_raw_handle(port)
        };
        let buffers = vec![0; depth * block + alignment];
        let skip = buffers.as_ptr().align_offset(alignment);
        let states = vec![OVERLAPPED::default(); depth].into_boxed_slice();
        Ok(Self {
            port,
            file,
            buffers,
            states: Box::into_raw(states).cast(),
            skip,
            block,
            under_way: vec![false; depth],
            submitted: 0,
            refused: Vec::new(),
            entries: vec![OVERLAPPED_ENTRY::default(); depth],
        })
    }

    #[inline]
    pub fn depth(&self) -> usize {
        self.under_way.len()
    }

    /// The bytes of a slot in which nothing is under way.
    #[inline]
    pub fn slot(&mut self, slot: usize) -> &mut [u8] {
        assert!(!self.under_way[slot], "the system works on this slot");
        let start = self.skip + slot * self.block;
        &mut self.buffers[start..start + self.block]
    }

    /// Hands a request for the slot's whole buffer to the system.
    pub fn put(&mut self, slot: usize, write: bool, position: u64) {
        let bytes = self.slot(slot).as_mut_ptr();
        let length = self.block as u32;
        let mut state = OVERLAPPED::default();
        state.Anonymous.Anonymous.Offset = position as u32;
        state.Anonymous.Anonymous.OffsetHigh = (position >> 32) as u32;
        let file = self.file.as_raw_handle();
        let moved = std::ptr::null_mut();
        // SAFETY: `slot` is one of the slots, checked above, and nothing is under way in it. File,
        // buffer and state belong to the queue, which waits for everything under way before it lets
        // go of them; the mark keeps the slot's bytes from being lent out meanwhile.
        let done = unsafe {
            let place = self.states.add(slot);
            place.write(state);
            if write {
                WriteFile(file, bytes, length, moved, place)
            } else {
                ReadFile(file, bytes, length, moved, place)
            }
        };
        self.under_way[slot] = true;
        self.submitted += 1;
        if done == 0 {
            let error = io::Error::last_os_error();
            if error.raw_os_error() != Some(ERROR_IO_PENDING as i32) {
                self.refused.push((slot, at_end(error)));
            }
        }
    }

    /// Waits until at least one request is over, and returns all that are.
    #[inline]
    pub fn wait(&mut self, over: &mut Vec<Completion>) -> io::Result<()> {
        over.clear();
        over.append(&mut self.refused);
        if over.is_empty() && self.submitted > 0 {
            self.take(over)?;
        }
        for (slot, _) in over.iter() {
            self.under_way[*slot] = false;
        }
        self.submitted -= over.len();
        Ok(())
    }

    fn take(&mut self, over: &mut Vec<Completion>) -> io::Result<()> {
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
        if done == 0 {
            return Err(io::Error::last_os_error());
        }
        for entry in &self.entries[..count as usize] {
            let mut moved = 0;
            // SAFETY: the port serves this file alone, so every state is one of ours; its request
            // is over, and nobody writes to it any more.
            let (slot, done) = unsafe {
                let slot = entry.lpOverlapped.offset_from(self.states);
                let file = self.file.as_raw_handle();
                let done = GetOverlappedResult(file, entry.lpOverlapped, &mut moved, 0);
                (slot as usize, done)
            };
            let result = if done == 0 {
                at_end(io::Error::last_os_error())
            } else {
                Ok(moved as usize)
            };
            over.push((slot, result));
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

impl Drop for Queue {
    fn drop(&mut self) {
        let mut over = Vec::new();
        while self.submitted > 0 {
            if self.wait(&mut over).is_err() {
                // The system may still write to the buffers and states, so they must outlive it.
                std::mem::forget(std::mem::take(&mut self.buffers));
                return;
            }
        }
        let states = std::ptr::slice_from_raw_parts_mut(self.states, self.depth());
        // SAFETY: made by Box::into_raw with this length; nothing is under way any more.
        drop(unsafe { Box::from_raw(states) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::open::{open, How};

    #[test]
    fn what_is_put_is_done_where_it_belongs() {
        let path = std::env::temp_dir().join(format!("pentathlon-queue-{}", std::process::id()));
        let how = How {
            create: true,
            queued: true,
            ..How::WRITE
        };
        let mut queue = Queue::new(open(&path, how).unwrap(), 4, 512, 512).unwrap();
        for slot in 0..4 {
            queue.slot(slot).fill(slot as u8 + 1);
            queue.put(slot, true, (3 - slot as u64) * 512);
        }
        let (mut over, mut done) = (Vec::new(), Vec::new());
        while done.len() < 4 {
            queue.wait(&mut over).unwrap();
            done.extend(over.drain(..).map(|(slot, moved)| (slot, moved.unwrap())));
        }
        done.sort_unstable();
        assert_eq!(done, [(0, 512), (1, 512), (2, 512), (3, 512)]);
        let bytes = std::fs::read(&path).unwrap();
        assert!(bytes.chunks(512).map(|part| part[100]).eq([4, 3, 2, 1]));
        // A read behind the end moves nothing; a queue that is dropped waits for what is under way.
        queue.put(0, false, 4096);
        queue.wait(&mut over).unwrap();
        assert!(matches!(over[..], [(0, Ok(0))]), "{over:?}");
        queue.put(1, false, 0);
        drop(queue);
        std::fs::remove_file(&path).unwrap();
    }
}
