//! One direction of a line: queue, rate, way, and the frames that are on it.

use super::impairments::{Fate, Impairments};
use super::profile::Way;
use super::queue::{Queue, HEADER};
use super::statistics::{QueueUse, Statistics, WayUse};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A frame that is due at the far end.
#[derive(Debug)]
pub struct Due<F> {
    pub at_ns: u64,
    order: u64,
    pub length: u32,
    pub twice: bool,
    pub frame: F,
}

pub struct Direction<F> {
    longest: u32,
    line: Queue<F>,
    impairments: Impairments,
    on_the_way: BinaryHeap<Due<F>>,
    count: u64,
    cut: bool,
    pub statistics: Statistics,
}

impl<F> Direction<F> {
    /// `which`: 0 or 1. The error states which number cannot be.
    pub fn new(way: &Way, seed: u64, which: u64) -> Result<Self, String> {
        way.check()?;
        Ok(Self {
            longest: way.mtu_bytes + HEADER,
            line: Queue::new(way),
            impairments: Impairments::new(way, seed, which)?,
            on_the_way: BinaryHeap::new(),
            count: 0,
            cut: false,
            statistics: Statistics::default(),
        })
    }

    /// Takes a frame that came at `came_ns`, no earlier than the one before; gives it back if it
    /// goes no further.
    pub fn offer(&mut self, came_ns: u64, length: u32, frame: F) -> Option<F> {
        self.advance(came_ns);
        self.statistics.frames_in += 1;
        self.statistics.bytes_in += u64::from(length);
        let drops = &mut self.statistics.drops;
        if self.cut {
            drops.cut += 1;
            return Some(frame);
        }
        if length > self.longest {
            drops.mtu += 1;
            return Some(frame);
        }
        let refused = self.line.offer(came_ns, length, frame).err();
        drops.queue += u64::from(refused.is_some());
        refused
    }

    /// Lets everything happen that happens until `now_ns`.
    pub fn advance(&mut self, now_ns: u64) {
        let Self {
            line,
            impairments,
            on_the_way,
            count,
            statistics,
            ..
        } = self;
        line.advance(now_ns, |frame, length, left_ns| {
            match impairments.carry(left_ns) {
                Fate::Lost => statistics.drops.loss += 1,
                Fate::Arrives {
                    at_ns,
                    twice,
                    ahead,
                } => {
                    statistics.ahead += u64::from(ahead);
                    statistics.duplicated += u64::from(twice);
                    on_the_way.push(Due {
                        at_ns,
                        order: *count,
                        length,
                        twice,
                        frame,
                    });
                    *count += 1;
                }
            }
        });
        statistics.drops.codel = line.controlled();
    }

    /// The next frame that is due at `now_ns`.
    pub fn due(&mut self, now_ns: u64) -> Option<Due<F>> {
        if self.on_the_way.peek()?.at_ns > now_ns {
            return None;
        }
        let due = self.on_the_way.pop()?;
        if self.cut {
            self.statistics.drops.cut += 1;
            return self.due(now_ns);
        }
        Some(due)
    }

    /// Nothing is due before this time; none if nothing is on the way.
    pub fn next_ns(&self) -> Option<u64> {
        let on_the_way = self.on_the_way.peek().map(|due| due.at_ns);
        let waiting = self
            .line
            .next_left_ns()
            .map(|left_ns| (left_ns + self.impairments.least_ns()) as u64);
        on_the_way.into_iter().chain(waiting).min()
    }

    /// A line that is cut loses what is on the way and what comes.
    pub fn cut(&mut self, cut: bool) {
        self.cut = cut;
    }

    pub fn used(&self) -> WayUse {
        let (frames, bytes) = self.line.waiting();
        self.statistics.used(QueueUse {
            high_bytes: self.line.high_bytes,
            high_frames: self.line.high_frames,
            frames,
            bytes,
            on_the_way: self.on_the_way.len() as u64,
        })
    }
}

impl<F> Ord for Due<F> {
    /// The greatest is due first.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at_ns, other.order).cmp(&(self.at_ns, self.order))
    }
}

impl<F> PartialOrd for Due<F> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<F> PartialEq for Due<F> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<F> Eq for Due<F> {}

#[cfg(test)]
#[path = "direction_tests.rs"]
mod tests;
