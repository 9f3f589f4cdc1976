//! Read by a thread, where a pipe cannot be waited for with a limit.

use super::{take, Next};
use std::io::BufReader;
use std::process::ChildStdout;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Instant;

pub struct Output {
    lines: Receiver<Vec<u8>>,
    reader: JoinHandle<()>,
}

impl Output {
    pub fn new(pipe: ChildStdout) -> Self {
        let (sender, lines) = mpsc::channel();
        let reader = std::thread::spawn(move || {
            let (mut pipe, mut held) = (BufReader::new(pipe), Vec::new());
            while let Some(whole) = take(&mut pipe, &mut held) {
                if whole && sender.send(std::mem::take(&mut held)).is_err() {
                    break;
                }
            }
        });
        Self { lines, reader }
    }

    /// The lines that have been written by now, waited for until the deadline.
    pub fn next(&mut self, deadline: Instant) -> Next {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.lines.recv_timeout(left) {
            Ok(lines) => Next::Lines(lines),
            Err(RecvTimeoutError::Disconnected) => Next::End,
            Err(RecvTimeoutError::Timeout) => Next::Late,
        }
    }

    /// Waits for the reader of an output whose writers have ended.
    pub fn close(self) {
        self.reader.join().ok();
    }
}
