//! The write, read, write sequence over one block.

use super::super::bandwidth::bodies::{Read, Write};
use super::super::{kernels, pattern};
use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{Body, Failure};

/// The passes that were timed together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timed {
    pub passes: u64,
    pub elapsed_ns: f64,
    pub checksum: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sequence {
    pub read: Timed,
    pub write: Timed,
}

/// Writes the block, which warms the caches as far as they hold it; then times reading, then
/// writing it. The passes of a timing grow until they take `sample_ns`.
pub fn write_read_write(
    block: &mut [u64],
    clock: &Clock,
    sample_ns: f64,
) -> Result<Sequence, Failure> {
    let kernels = kernels::vector();
    let checksum = pattern::fill(block);
    let read = long_enough(&mut Read::new(kernels, block, checksum), clock, sample_ns)?;
    let mut body = Write::new(kernels, block);
    let write = long_enough(&mut body, clock, sample_ns)?;
    Ok(Sequence { read, write })
}

fn long_enough(body: &mut dyn Body, clock: &Clock, sample_ns: f64) -> Result<Timed, Failure> {
    let mut passes = 1u64;
    loop {
        let from = clock.ticks();
        let returned = std::hint::black_box(body.batch(std::hint::black_box(passes)));
        let elapsed_ns = clock.elapsed_ns(from, clock.ticks());
        let checksum = body.verify(passes, returned)?;
        if elapsed_ns >= sample_ns {
            return Ok(Timed {
                passes,
                elapsed_ns,
                checksum,
            });
        }
        if passes > 1 << 40 {
            return Err(Failure::Invalid(format!(
                "{passes} passes take no measurable time: the work was not done"
            )));
        }
        // Odd, because reading cannot distinguish some even numbers of passes.
        passes = passes * 2 + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_harness::clock::calibrate;
    use pentathlon_harness::measure::Closures;
    use pentathlon_os::region::{Pages, Region};

    #[test]
    fn both_timings_are_long_enough_and_proved() {
        let clock = Clock::of(&calibrate());
        let mut region = Region::reserve(8192, Pages::Default).unwrap();
        region.touch(8192).unwrap();
        let timed = write_read_write(region.words(), &clock, 1e5).unwrap();
        assert_eq!(timed.read.checksum, pattern::of(1024));
        let written = 1024u64.wrapping_mul(0x5bd1_e995_0000_0000);
        assert_eq!(timed.write.checksum, written);
        for timed in [timed.read, timed.write] {
            assert!(timed.elapsed_ns >= 1e5 && timed.passes > 0, "{timed:?}");
        }
    }

    #[test]
    fn work_that_takes_no_time_is_invalid() {
        // A clock that stands still.
        let clock = Clock::of(&calibrate());
        let mut nothing = Closures(|_| 0, |_, _| Ok(0));
        let outcome = long_enough(&mut nothing, &clock, f64::INFINITY);
        assert!(matches!(outcome, Err(Failure::Invalid(_))), "{outcome:?}");
    }
}
