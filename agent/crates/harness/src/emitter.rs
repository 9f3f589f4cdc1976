//! The way out of the agent: events as lines.

use super::clock::monotonic_ns;
use pentathlon_protocol::{Event, Line};
use std::io::Write;

/// Writes events as lines. Lines are held back until `flush`, so that writing (and whoever reads)
/// stays out of the timed batches.
pub struct Emitter<W: Write> {
    out: W,
    epoch_ns: u64,
    pending: Vec<u8>,
}

impl<W: Write> Emitter<W> {
    /// `epoch_ns`: reading of the monotonic clock that `t_ns` counts from.
    pub fn new(out: W, epoch_ns: u64) -> Self {
        Self {
            out,
            epoch_ns,
            pending: Vec::with_capacity(16 * 1024),
        }
    }

    /// Nanoseconds since the agent started.
    pub fn now_ns(&self) -> u64 {
        monotonic_ns().saturating_sub(self.epoch_ns)
    }

    /// Queues one event.
    pub fn push(&mut self, event: &Event) {
        let line = Line {
            event,
            t_ns: self.now_ns(),
        };
        serde_json::to_writer(&mut self.pending, &line).expect("events are plain data");
        self.pending.push(b'\n');
    }

    /// Writes what is queued. An error means that nobody listens any more.
    pub fn flush(&mut self) -> std::io::Result<()> {
        self.out.write_all(&self.pending)?;
        self.pending.clear();
        self.out.flush()
    }

    /// Passes on a whole line that another process wrote.
    pub fn pass(&mut self, line: &[u8]) -> std::io::Result<()> {
        self.pending.extend_from_slice(line);
        self.flush()
    }

    /// One event, written at once.
    pub fn send(&mut self, event: &Event) -> std::io::Result<()> {
        self.push(event);
        self.flush()
    }
}
