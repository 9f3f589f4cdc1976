//! Controlled delay (RFC 8289): which frames are dropped at the head of a queue, so that waiting
//! does not last. The steps and names are those of section 5 of the RFC.

use super::profile::Target;

/// Further drops resume the last cycle's rate if it ended less than so many intervals ago.
const RECENT: f64 = 16.0;

/// The queue as CoDel sees it: `take` gives the waiting time of the frame that it takes out.
pub trait Queue {
    type Frame;
    /// The first frame with the time for which it has waited at `now_ns`.
    fn take(&mut self, now_ns: f64) -> Option<(Self::Frame, f64)>;
    /// Bytes that are left.
    fn bytes(&self) -> u64;
    fn dropped(&mut self, frame: Self::Frame);
}

#[derive(Debug)]
pub struct CoDel {
    target_ns: f64,
    interval_ns: f64,
    /// A queue of no more than one longest frame is a good one, however long it waited.
    longest: u64,
    first_above_ns: f64,
    drop_next_ns: f64,
    count: u32,
    last_count: u32,
    dropping: bool,
}

impl CoDel {
    pub fn new(target: Target, longest: u64) -> Self {
        Self {
            target_ns: target.target_ns as f64,
            interval_ns: target.interval_ns as f64,
            longest,
            first_above_ns: 0.0,
            drop_next_ns: 0.0,
            count: 0,
            last_count: 0,
            dropping: false,
        }
    }

    /// The frame that goes on the line at `now_ns`, after those that were dropped before it.
    pub fn dequeue<Q: Queue>(&mut self, now_ns: f64, queue: &mut Q) -> Option<Q::Frame> {
        let (mut frame, mut may_drop) = self.take(now_ns, queue);
        if self.dropping {
            if !may_drop {
                self.dropping = false;
            }
            while self.dropping && now_ns >= self.drop_next_ns {
                if let Some(frame) = frame {
                    queue.dropped(frame);
                }
                self.count += 1;
                (frame, may_drop) = self.take(now_ns, queue);
                if may_drop {
                    self.drop_next_ns = self.control_law(self.drop_next_ns);
                } else {
                    self.dropping = false;
                }
            }
        } else if may_drop {
            if let Some(frame) = frame {
                queue.dropped(frame);
            }
            (frame, _) = self.take(now_ns, queue);
            self.dropping = true;
            let delta = self.count.saturating_sub(self.last_count);
            let recent = now_ns - self.drop_next_ns < RECENT * self.interval_ns;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next_ns = self.control_law(now_ns);
            self.last_count = self.count;
        }
        frame
    }

    /// `dodequeue` of the RFC.
    fn take<Q: Queue>(&mut self, now_ns: f64, queue: &mut Q) -> (Option<Q::Frame>, bool) {
        let Some((frame, waited_ns)) = queue.take(now_ns) else {
            self.first_above_ns = 0.0;
            return (None, false);
        };
        if waited_ns < self.target_ns || queue.bytes() <= self.longest {
            self.first_above_ns = 0.0;
            return (Some(frame), false);
        }
        if self.first_above_ns == 0.0 {
            self.first_above_ns = now_ns + self.interval_ns;
            return (Some(frame), false);
        }
        (Some(frame), now_ns >= self.first_above_ns)
    }

    fn control_law(&self, from_ns: f64) -> f64 {
        from_ns + self.interval_ns / f64::from(self.count).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    const MS: f64 = 1e6;
    const LENGTH: u64 = 1000;

    /// Frames of one length, by the time at which they came.
    #[derive(Default)]
    struct Waiting {
        came: VecDeque<f64>,
        drops: Vec<f64>,
        now: f64,
    }

    impl Queue for Waiting {
        type Frame = f64;
        fn take(&mut self, now_ns: f64) -> Option<(f64, f64)> {
            self.now = now_ns;
            self.came.pop_front().map(|came| (came, now_ns - came))
        }
        fn bytes(&self) -> u64 {
            self.came.len() as u64 * LENGTH
        }
        fn dropped(&mut self, _: f64) {
            self.drops.push(self.now);
        }
    }

    fn codel() -> CoDel {
        let target = Target {
            target_ns: 5_000_000,
            interval_ns: 100_000_000,
        };
        CoDel::new(target, LENGTH)
    }

    #[test]
    fn drops_of_a_standing_queue_follow_the_control_law() {
        // A queue that waits 50 ms for ever: 50 frames wait, one leaves each millisecond.
        let (mut codel, mut queue) = (codel(), Waiting::default());
        for tick in 0..2000 {
            let now = f64::from(tick) * MS;
            while queue.came.len() < 60 {
                queue.came.push_back(now - 50.0 * MS);
            }
            assert!(codel.dequeue(now, &mut queue).is_some());
        }
        // The first after one interval above the target, then interval / sqrt(count) apart.
        let mut expected = vec![100.0];
        let mut next = 100.0;
        for count in 1.. {
            next += 100.0 / f64::from(count).sqrt();
            if next > 1999.0 {
                break;
            }
            expected.push(next.ceil());
        }
        let found: Vec<f64> = queue.drops.iter().map(|at| at / MS).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn short_waits_and_short_queues_are_left_alone() {
        let (mut codel, mut queue) = (codel(), Waiting::default());
        for tick in 0..1000 {
            let now = f64::from(tick) * MS;
            // Waits of 4.9 ms, whatever the length.
            while queue.came.len() < 60 {
                queue.came.push_back(now - 4.9 * MS);
            }
            queue.came.truncate(60);
            queue.came[0] = now - 4.9 * MS;
            codel.dequeue(now, &mut queue);
        }
        for tick in 1000..2000 {
            // Waits of 50 ms with one frame behind.
            let now = f64::from(tick) * MS;
            queue.came = [now - 50.0 * MS, now].into();
            codel.dequeue(now, &mut queue);
        }
        assert_eq!(queue.drops, Vec::<f64>::new());
    }

    #[test]
    fn a_cycle_soon_after_another_goes_on_at_its_rate() {
        let (mut codel, mut queue) = (codel(), Waiting::default());
        let mut at = 0;
        let mut stand = |codel: &mut CoDel, queue: &mut Waiting, from: i32, to: i32, wait: f64| {
            for tick in from..to {
                let now = f64::from(tick) * MS;
                queue.came = std::iter::repeat_n(now - wait * MS, 60).collect();
                codel.dequeue(now, queue);
                at = tick;
            }
        };
        stand(&mut codel, &mut queue, 0, 1000, 50.0);
        let first = queue.drops.len() as u32;
        stand(&mut codel, &mut queue, 1000, 1010, 1.0);
        queue.drops.clear();
        stand(&mut codel, &mut queue, 1010, 1500, 50.0);
        // One interval above the target, a drop, and then not 100 ms but 100 / sqrt(delta).
        let gap = (queue.drops[1] - queue.drops[0]) / MS;
        let expected = (100.0 / f64::from(first - 1).sqrt()).ceil();
        assert_eq!(gap, expected);
    }
}
