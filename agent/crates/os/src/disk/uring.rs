//! The requests of a queue: `io_uring(7)`.

use io_uring::{opcode, types, IoUring};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

pub struct Requests(IoUring);

impl Requests {
    pub fn new(_file: &File, depth: usize) -> io::Result<Self> {
        let entries = u32::try_from(depth.next_power_of_two()).map_err(io::Error::other)?;
        Ok(Self(IoUring::new(entries)?))
    }

    /// # Safety
    /// File and bytes stay until the request is over, and nobody else uses the bytes; no more
    /// requests are under way than the queue is deep.
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
        let file = types::Fd(file.as_raw_fd());
        let entry = if write {
            opcode::Write::new(file, bytes, length)
                .offset(position)
                .build()
        } else {
            opcode::Read::new(file, bytes, length)
                .offset(position)
                .build()
        };
        // SAFETY: the caller's promise.
        unsafe {
            self.0
                .submission()
                .push(&entry.user_data(slot as u64))
                .expect("the ring has an entry for every slot");
        }
    }

    /// Hands what was put to the kernel, waits until at least one request is over, and gives all
    /// that are to `each`.
    #[inline]
    pub fn wait(
        &mut self,
        _file: &File,
        mut each: impl FnMut(usize, io::Result<usize>),
    ) -> io::Result<()> {
        loop {
            match self.0.submit_and_wait(1) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(_) => break,
            }
        }
        for entry in self.0.completion() {
            let moved = entry.result();
            let result = if moved < 0 {
                Err(io::Error::from_raw_os_error(-moved))
            } else {
                Ok(moved as usize)
            };
            each(entry.user_data() as usize, result);
        }
        Ok(())
    }
}
