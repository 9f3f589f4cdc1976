//! A timed pass over a file in chunks.

use super::file::system;
use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::Failure;
use std::io;

/// The clock is read once for this many bytes, so that it costs nothing beside them.
const BETWEEN_LOOKS: u64 = 256 * 1024;

/// What a pass did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pass {
    pub chunks: u64,
    pub bytes: u64,
    pub elapsed_ns: f64,
    /// Sum of the stamps that were read.
    pub sum: u64,
}

impl Pass {
    /// MB/s of 10^6 bytes.
    pub fn rate(&self) -> f64 {
        self.bytes as f64 / self.elapsed_ns.max(1.0) * 1e3
    }
}

/// The shape of a pass.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub chunk: usize,
    /// Chunks to do.
    pub count: u64,
    /// Time after which the pass ends, in ns.
    pub limit_ns: f64,
    /// Whether every chunk waits for the device: then the clock is read after each.
    pub waits: bool,
}

impl Shape {
    pub fn of_file(chunk: usize, file_bytes: u64, limit_s: f64, waits: bool) -> Self {
        Self {
            chunk,
            count: file_bytes / chunk as u64,
            limit_ns: if limit_s > 0.0 {
                limit_s * 1e9
            } else {
                f64::INFINITY
            },
            waits,
        }
    }
}

/// Calls `step` with the number of each chunk until all are done or the time is over. `step`
/// returns the bytes moved and the sum of the stamps.
#[inline]
pub fn timed(
    clock: &Clock,
    shape: Shape,
    what: &str,
    step: impl FnMut(u64) -> io::Result<(usize, u64)>,
) -> Result<Pass, Failure> {
    timed_to_end(clock, shape, what, step, || Ok(()))
}

/// The same with an `end` that finishes the pass and is timed too.
#[inline]
pub fn timed_to_end(
    clock: &Clock,
    shape: Shape,
    what: &str,
    mut step: impl FnMut(u64) -> io::Result<(usize, u64)>,
    end: impl FnOnce() -> io::Result<()>,
) -> Result<Pass, Failure> {
    let between = if shape.waits {
        1
    } else {
        (BETWEEN_LOOKS / shape.chunk as u64).max(1)
    };
    let (mut sum, mut moved, mut done) = (0u64, 0u64, 0u64);
    let from = clock.ticks();
    while done < shape.count {
        let stop = (done + between).min(shape.count);
        while done < stop {
            let (bytes, stamps) = step(done).map_err(|e| system(what, &e))?;
            moved += bytes as u64;
            sum = sum.wrapping_add(stamps);
            done += 1;
        }
        if clock.elapsed_ns(from, clock.ticks()) > shape.limit_ns {
            break;
        }
    }
    end().map_err(|e| system(what, &e))?;
    let elapsed_ns = clock.elapsed_ns(from, clock.ticks());
    if moved != done * shape.chunk as u64 {
        return Err(Failure::Failed(format!(
            "{what} moved {moved} B and should have moved {}",
            done * shape.chunk as u64
        )));
    }
    Ok(Pass {
        chunks: done,
        bytes: moved,
        elapsed_ns,
        sum,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_harness::clock::calibrate;

    fn shape(count: u64, limit_ns: f64) -> Shape {
        Shape {
            chunk: 4096,
            count,
            limit_ns,
            waits: true,
        }
    }

    fn pass(shape: Shape, bytes: usize) -> Result<Pass, Failure> {
        let clock = Clock::of(&calibrate());
        timed(&clock, shape, "reading", |n| Ok((bytes, n)))
    }

    #[test]
    fn a_pass_does_every_chunk_once_and_sums_them() {
        let done = pass(shape(10, f64::INFINITY), 4096).unwrap();
        assert_eq!((done.chunks, done.bytes, done.sum), (10, 40_960, 45));
        assert!(done.rate() > 0.0);
    }

    #[test]
    fn a_pass_ends_when_its_time_is_over() {
        let done = pass(shape(u64::MAX, 1e6), 4096).unwrap();
        assert!(done.chunks > 0 && done.elapsed_ns >= 1e6);
    }

    #[test]
    fn short_calls_and_errors_are_failures() {
        assert!(matches!(
            pass(shape(3, f64::INFINITY), 100),
            Err(Failure::Failed(reason)) if reason.contains("12288")
        ));
        let clock = Clock::of(&calibrate());
        let refused = timed(&clock, shape(3, f64::INFINITY), "writing", |_| {
            Err(io::ErrorKind::Unsupported.into())
        });
        assert!(refused.is_err());
    }
}
