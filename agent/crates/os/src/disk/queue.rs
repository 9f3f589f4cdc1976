//! A queue of reads and writes at positions of one file: `io_uring(7)`; overlapped `ReadFile` and
//! `WriteFile`.
//!
//! The system reads and writes the buffers while the program runs on, so the queue owns them: a
//! slot's bytes can be had only while nothing is under way in it, and a queue that is dropped waits
//! for everything that is under way.

#[cfg(windows)]
use super::overlapped::Requests;
#[cfg(target_os = "linux")]
use super::uring::Requests;
use std::fs::File;
use std::io;

/// A queue over one file with a buffer for each request under way.
pub struct Queue {
    requests: Requests,
    file: File,
    buffers: Vec<u8>,
    skip: usize,
    block: usize,
    under_way: Vec<bool>,
    submitted: usize,
}

/// A request that is over: its slot and the bytes that it moved.
pub type Completion = (usize, io::Result<usize>);

impl Queue {
    /// A queue of `depth` slots of `block` bytes, each beginning on a multiple of `alignment`. On
    /// Windows the file must have been opened with FILE_FLAG_OVERLAPPED.
    pub fn new(file: File, depth: usize, block: usize, alignment: usize) -> io::Result<Self> {
        assert!(depth > 0 && block.is_multiple_of(alignment), "whole blocks");
        let requests = Requests::new(&file, depth)?;
        let buffers = vec![0; depth * block + alignment];
        let skip = buffers.as_ptr().align_offset(alignment);
        Ok(Self {
            requests,
            file,
            buffers,
            skip,
            block,
            under_way: vec![false; depth],
            submitted: 0,
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

    /// Puts a request for the slot's whole buffer into the queue. On Linux `wait` hands it to the
    /// kernel.
    pub fn put(&mut self, slot: usize, write: bool, position: u64) {
        let bytes = self.slot(slot).as_mut_ptr();
        let length = self.block as u32;
        // SAFETY: `slot` is one of the slots, checked above, and nothing is under way in it. File
        // and buffer belong to the queue, which waits for everything under way before it lets go of
        // them; the mark keeps the slot's bytes from being lent out meanwhile.
        unsafe {
            self.requests
                .put(&self.file, slot, write, bytes, length, position)
        };
        self.under_way[slot] = true;
        self.submitted += 1;
    }

    /// Waits until at least one request is over, and returns all that are.
    #[inline]
    pub fn wait(&mut self, over: &mut Vec<Completion>) -> io::Result<()> {
        over.clear();
        self.requests.wait(&self.file, |slot, moved| {
            self.under_way[slot] = false;
            self.submitted -= 1;
            over.push((slot, moved));
        })
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let mut over = Vec::new();
        while self.submitted > 0 {
            if self.wait(&mut over).is_err() {
                // The system may still write to the buffers, so they must outlive it.
                std::mem::forget(std::mem::take(&mut self.buffers));
                break;
            }
        }
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
        let mut queue = match Queue::new(open(&path, how).unwrap(), 4, 512, 512) {
            Ok(queue) => queue,
            Err(error) if cfg!(target_os = "linux") => {
                // Sandboxes and containers refuse the call; the workload reports it too.
                eprintln!("skipped: io_uring: {error}");
                std::fs::remove_file(&path).unwrap();
                return;
            }
            Err(error) => panic!("{error}"),
        };
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
