//! A queue of reads and writes at positions of one file: `io_uring(7)`.
//!
//! The kernel reads and writes the buffers while the program runs on, so the queue owns them: a
//! slot's bytes can be had only while nothing is under way in it, and a queue that is dropped waits
//! for everything that is under way.

use io_uring::{opcode, types, IoUring};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// A queue over one file with a buffer for each request under way.
pub struct Queue {
    ring: IoUring,
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
    /// A queue of `depth` slots of `block` bytes, each beginning on a multiple of `alignment`.
    pub fn new(file: File, depth: usize, block: usize, alignment: usize) -> io::Result<Self> {
        assert!(depth > 0 && block.is_multiple_of(alignment), "whole blocks");
        let entries = u32::try_from(depth.next_power_of_two()).map_err(io::Error::other)?;
        let ring = IoUring::new(entries)?;
        let buffers = vec![0; depth * block + alignment];
        let skip = buffers.as_ptr().align_offset(alignment);
        Ok(Self {
            ring,
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
        assert!(!self.under_way[slot], "the kernel works on this slot");
        let start = self.skip + slot * self.block;
        &mut self.buffers[start..start + self.block]
    }

    /// Puts a request for the slot's whole buffer into the queue; `wait` hands it to the kernel.
    pub fn put(&mut self, slot: usize, write: bool, position: u64) {
        let file = types::Fd(self.file.as_raw_fd());
        let length = self.block as u32;
        let bytes = self.slot(slot).as_mut_ptr();
        let entry = if write {
            opcode::Write::new(file, bytes, length)
                .offset(position)
                .build()
        } else {
            opcode::Read::new(file, bytes, length)
                .offset(position)
                .build()
        };
        // SAFETY: the file and the buffer belong to the queue, which waits for everything under way
        // before it lets go of them; the mark keeps the slot's bytes from being lent out meanwhile.
        unsafe {
            self.ring
                .submission()
                .push(&entry.user_data(slot as u64))
                .expect("the ring has an entry for every slot");
        }
        self.under_way[slot] = true;
        self.submitted += 1;
    }

    /// Hands what was put to the kernel, waits until at least one request is over, and returns all
    /// that are.
    pub fn wait(&mut self, over: &mut Vec<Completion>) -> io::Result<()> {
        over.clear();
        loop {
            match self.ring.submit_and_wait(1) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(_) => break,
            }
        }
        for entry in self.ring.completion() {
            let slot = entry.user_data() as usize;
            self.under_way[slot] = false;
            self.submitted -= 1;
            let moved = entry.result();
            let result = if moved < 0 {
                Err(io::Error::from_raw_os_error(-moved))
            } else {
                Ok(moved as usize)
            };
            over.push((slot, result));
        }
        Ok(())
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let mut over = Vec::new();
        while self.submitted > 0 {
            if self.wait(&mut over).is_err() {
                // The kernel may still write to the buffers, so they must outlive it.
                std::mem::forget(std::mem::take(&mut self.buffers));
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn what_is_put_is_done_where_it_belongs() {
        let path = std::env::temp_dir().join(format!("pentathlon-uring-{}", std::process::id()));
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .unwrap();
        let again = file.try_clone().unwrap();
        let mut queue = match Queue::new(file, 4, 512, 512) {
            Ok(queue) => queue,
            Err(error) => {
                // Sandboxes and containers refuse the call; the workload reports it too.
                eprintln!("skipped: io_uring: {error}");
                std::fs::remove_file(&path).unwrap();
                return;
            }
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
        let mut bytes = [0; 2048];
        again.read_exact_at(&mut bytes, 0).unwrap();
        assert!(bytes.chunks(512).map(|part| part[100]).eq([4, 3, 2, 1]));
        // A read behind the end moves nothing; a queue that is dropped waits for what is under way.
        queue.put(0, false, 4096);
        queue.wait(&mut over).unwrap();
        assert!(matches!(over[..], [(0, Ok(0))]));
        queue.put(1, false, 0);
        drop(queue);
        std::fs::remove_file(&path).unwrap();
    }
}
