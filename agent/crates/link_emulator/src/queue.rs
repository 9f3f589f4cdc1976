//! The queue before the line, and the clock of its rate.
//!
//! All times are given: a frame that came at a time is put on the line at the time at which the
//! line is free, however late the caller asks. Offer frames in the order of their times, and
//! advance to a frame's time before it is offered.

use super::codel::{self, CoDel};
use super::profile::Way;
use std::collections::VecDeque;

/// Bytes of an Ethernet header, which are not part of the MTU.
pub const HEADER: u32 = 14;
const NS: f64 = 1e9;

struct Waiting<F> {
    frame: F,
    length: u32,
    came_ns: f64,
}

/// Frames that wait, with CoDel's view of them.
struct Row<F> {
    frames: VecDeque<Waiting<F>>,
    bytes: u64,
    dropped: u64,
}

pub struct Queue<F> {
    bits_per_ns: Option<f64>,
    /// Length of the longest burst, as time on the line.
    burst_ns: f64,
    overhead: i64,
    limit_bytes: u64,
    limit_frames: u64,
    codel: Option<CoDel>,
    row: Row<F>,
    /// When everything that left would have left without a burst.
    busy_until_ns: f64,
    pub high_bytes: u64,
    pub high_frames: u64,
}

impl<F> Queue<F> {
    pub fn new(way: &Way) -> Self {
        let longest = u64::from(way.mtu_bytes + HEADER);
        let bits_per_ns = way.rate_bps.map(|rate| rate / NS);
        Self {
            burst_ns: bits_per_ns.map_or(0.0, |rate| way.burst_bytes as f64 * 8.0 / rate),
            bits_per_ns,
            overhead: way.overhead_bytes,
            limit_bytes: way.queue.bytes.unwrap_or(u64::MAX),
            limit_frames: way.queue.frames.unwrap_or(u64::MAX),
            codel: way.queue.codel.map(|target| CoDel::new(target, longest)),
            row: Row {
                frames: VecDeque::new(),
                bytes: 0,
                dropped: 0,
            },
            busy_until_ns: 0.0,
            high_bytes: 0,
            high_frames: 0,
        }
    }

    /// Time that a frame takes on the line.
    pub fn time_ns(&self, length: u32) -> f64 {
        let bytes = i64::from(length).saturating_add(self.overhead).max(0);
        self.bits_per_ns
            .map_or(0.0, |rate| bytes as f64 * 8.0 / rate)
    }

    /// Puts a frame behind those that wait; gives it back if there is no room.
    pub fn offer(&mut self, came_ns: u64, length: u32, frame: F) -> Result<(), F> {
        let came_ns = came_ns as f64;
        // One that finds the line free does not wait.
        let passes = self.row.frames.is_empty() && self.start_ns(length, came_ns) <= came_ns;
        let (bytes, frames) = (
            self.row.bytes + u64::from(length),
            self.row.frames.len() as u64 + 1,
        );
        if !passes {
            if bytes > self.limit_bytes || frames > self.limit_frames {
                return Err(frame);
            }
            self.high_bytes = self.high_bytes.max(bytes);
            self.high_frames = self.high_frames.max(frames);
        }
        self.row.bytes = bytes;
        self.row.frames.push_back(Waiting {
            frame,
            length,
            came_ns,
        });
        Ok(())
    }

    /// Puts on the line what can go on it until `now_ns`; `left` gets each frame with its length
    /// and the time at which its last bit has left.
    pub fn advance(&mut self, now_ns: u64, mut left: impl FnMut(F, u32, f64)) {
        let now_ns = now_ns as f64;
        while let Some(head) = self.row.frames.front() {
            let start_ns = self.start_ns(head.length, head.came_ns);
            if start_ns > now_ns {
                return;
            }
            let taken = match &mut self.codel {
                Some(codel) => codel.dequeue(start_ns, &mut self.row),
                None => codel::Queue::take(&mut self.row, start_ns).map(|(waiting, _)| waiting),
            };
            if let Some(taken) = taken {
                let began_ns = self.busy_until_ns.max(taken.came_ns);
                self.busy_until_ns = began_ns + self.time_ns(taken.length);
                let left_ns = taken.came_ns.max(self.busy_until_ns - self.burst_ns);
                left(taken.frame, taken.length, left_ns);
            }
        }
    }

    /// When the frame at the head will have left, if nothing is dropped before it.
    pub fn next_left_ns(&self) -> Option<f64> {
        let head = self.row.frames.front()?;
        let ready_ns = self.busy_until_ns.max(head.came_ns) + self.time_ns(head.length);
        Some(head.came_ns.max(ready_ns - self.burst_ns))
    }

    /// Frames and bytes that wait.
    pub fn waiting(&self) -> (u64, u64) {
        (self.row.frames.len() as u64, self.row.bytes)
    }

    /// Frames that CoDel dropped.
    pub fn controlled(&self) -> u64 {
        self.row.dropped
    }

    /// When a frame that came at `came_ns` can leave the queue.
    fn start_ns(&self, length: u32, came_ns: f64) -> f64 {
        let time_ns = self.time_ns(length);
        let ready_ns = self.busy_until_ns.max(came_ns) + time_ns;
        came_ns.max(ready_ns - self.burst_ns.max(time_ns))
    }
}

impl<F> codel::Queue for Row<F> {
    type Frame = Waiting<F>;

    fn take(&mut self, now_ns: f64) -> Option<(Waiting<F>, f64)> {
        let waiting = self.frames.pop_front()?;
        self.bytes -= u64::from(waiting.length);
        let waited_ns = now_ns - waiting.came_ns;
        Some((waiting, waited_ns))
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn dropped(&mut self, _: Waiting<F>) {
        self.dropped += 1;
    }
}
