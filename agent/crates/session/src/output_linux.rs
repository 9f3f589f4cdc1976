//! Read by the supervisor itself, with poll(2): in user-mode Linux each system call and each switch to
//! another thread takes some 20 µs, which a batch of another system waits for.

use super::{take, Next};
use pentathlon_os::poll::{self, Ready};
use std::io::BufReader;
use std::os::fd::AsFd;
use std::process::ChildStdout;
use std::time::{Duration, Instant};

pub struct Output {
    pipe: BufReader<ChildStdout>,
    held: Vec<u8>,
}

impl Output {
    pub fn new(pipe: ChildStdout) -> Self {
        Self {
            pipe: BufReader::new(pipe),
            held: Vec::new(),
        }
    }

    /// The lines that have been written by now, waited for until the deadline.
    pub fn next(&mut self, deadline: Instant) -> Next {
        loop {
            if self.pipe.buffer().is_empty() {
                let left = deadline.saturating_duration_since(Instant::now());
                match poll::wait(self.pipe.get_ref().as_fd(), Ready::Read, left) {
                    Ok(true) => {}
                    // A signal ended the wait, or the time is over, which the next look decides.
                    Ok(false) if left > Duration::from_millis(1) => continue,
                    Ok(false) => return Next::Late,
                    Err(_) => return Next::End,
                }
            }
            match take(&mut self.pipe, &mut self.held) {
                Some(true) => return Next::Lines(std::mem::take(&mut self.held)),
                Some(false) => {}
                None => return Next::End,
            }
        }
    }

    /// Nothing is read any more.
    pub fn close(self) {}
}
