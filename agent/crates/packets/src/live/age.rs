//! How much older the times of arrivals are than the arrivals, where packets share a look at the
//! clock: the next look, which came later than all of them, reports.

/// A look that came later than this after the one before reports nothing about packets that shared it:
/// the flow may have paused.
const LIMIT_NS: u64 = 5_000;

#[derive(Debug, Default)]
pub struct Ages {
    last: u64,
    sharing: u64,
    /// The largest age of a time that is not stale, ns.
    pub worst_ns: u64,
    /// Packets whose times may be older than [`LIMIT_NS`].
    pub stale: u64,
}

impl Ages {
    /// Takes the next packet's time, as the clock said it.
    #[inline]
    pub fn add(&mut self, time: u64) {
        if time == self.last {
            self.sharing += 1;
            return;
        }
        if self.sharing > 0 {
            self.looked(time.wrapping_sub(self.last));
        }
        self.last = time;
    }

    fn looked(&mut self, later_ns: u64) {
        if later_ns > LIMIT_NS {
            self.stale += self.sharing;
        } else {
            self.worst_ns = self.worst_ns.max(later_ns);
        }
        self.sharing = 0;
    }

    /// No packet comes any more, so nobody looks.
    pub fn finish(&mut self) {
        self.looked(u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ages(times: &[u64]) -> (u64, u64) {
        let mut ages = Ages::default();
        times.iter().for_each(|&time| ages.add(time));
        ages.finish();
        (ages.worst_ns, ages.stale)
    }

    #[test]
    fn times_of_their_own_have_no_age() {
        assert_eq!(ages(&[5, 900, 7_000_000]), (0, 0));
    }

    #[test]
    fn the_next_look_bounds_the_age_of_a_shared_time() {
        assert_eq!(ages(&[1000, 1000, 1000, 1300, 1300, 1700, 9000]), (400, 0));
    }

    #[test]
    fn what_came_before_a_pause_or_the_end_is_stale() {
        assert_eq!(
            ages(&[1000, 1000, 1000, 12_000, 12_500, 12_500]),
            (0, 2 + 1)
        );
    }
}
