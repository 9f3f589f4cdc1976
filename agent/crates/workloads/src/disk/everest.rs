//! `disk.linear`, `disk.random`, `disk.buffered` and `disk.access_time`: the disk tests of Everest,
//! past the system's cache, on a file or, read-only, on a whole device.

use super::content::Aligned;
use super::shuffle::Shuffle;
use super::source::{self, Source};
use super::sweep::{timed, Pass, Shape};
use super::workdir::Workdir;
use super::{entry, report};
use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{Context, Failure, Reading};
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;

/// Which of the four tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Everest {
    Linear,
    Random,
    Buffered,
    AccessTime,
}

const SOURCE: &str = "martinovic2012 §4.5, Tab. 1, 8 and 15 (Everest Ultimate 5.02)";
const LINUX: &str =
    "pread64(2) with O_DIRECT; method 'cached' reads through the cache, from which \
                     the file's own pages have been dropped, and then the system reads ahead";
const WINDOWS: &str = "ReadFile with FILE_FLAG_NO_BUFFERING";

impl Everest {
    fn block_default(self) -> u64 {
        match self {
            Self::AccessTime => 4096,
            Self::Buffered => 64 << 10,
            Self::Linear | Self::Random => 1 << 20,
        }
    }

    fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Linear => (
                "disk.linear",
                "Linear read",
                "An eighth of the file or device is read in order, at its beginning, its middle \
                 and its end.",
            ),
            Self::Random => (
                "disk.random",
                "Random read",
                "Blocks of the file or device are read in random order.",
            ),
            Self::Buffered => (
                "disk.buffered",
                "Buffered read",
                "One block is read again and again past the system's cache, so that the device's \
                 own buffer answers.",
            ),
            Self::AccessTime => (
                "disk.access_time",
                "Average access time",
                "Small blocks at random places are read one after the other.",
            ),
        }
    }

    fn parameters(self) -> Vec<Parameter> {
        vec![
            entry::file_bytes(128 << 20),
            Parameter::integer("block_bytes", self.block_default())
                .unit("B")
                .limits(512.0, 67_108_864.0)
                .described("bytes read by one call"),
            Parameter::text("method", "direct")
                .choices(&["direct", "cached"])
                .described(
                    "direct goes past the system's cache; cached goes through it, after the file's \
                     own pages have been dropped",
                ),
            entry::limit_s(0.3),
            entry::directory(),
            Parameter::text("device", "").described(
                "path of a block device to read instead of a file; it is opened for reading only",
            ),
            Parameter::text("device_again", "").described(
                "the same path once more: a device that is not named twice is not touched",
            ),
        ]
    }

    fn metric(self) -> Metric {
        match self {
            Self::AccessTime => Metric::lower("time", "Access time", "ms"),
            Self::Buffered => entry::rate("rate", "Buffered read"),
            Self::Linear => entry::rate("rate", "Linear read"),
            Self::Random => entry::rate("rate", "Random read"),
        }
    }

    fn factors(self) -> Vec<Factor> {
        match self {
            Self::Linear => vec![Factor::category("position", "Position")],
            _ => vec![],
        }
    }
}

impl pentathlon_harness::Workload for Everest {
    fn describe(&self) -> catalog::Workload {
        let (id, title, summary) = self.names();
        catalog::Workload {
            id,
            title,
            summary,
            source: SOURCE,
            parameters: self.parameters(),
            factors: self.factors(),
            metrics: vec![self.metric()],
            checksum: "seed and size of the file, after every stamp that was read had been \
                       compared; of a device, whose content is not known, the size of the blocks",
            semantics: Semantics {
                linux: LINUX,
                windows: WINDOWS,
            },
        }
    }

    fn switches(&self) -> bool {
        true
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let block = context.parameters.integer("block_bytes") as usize;
        let workdir = Workdir::of(context)?;
        let source = source::of(context, &workdir, block)?;
        let limit_s = context.parameters.number("limit_s");
        let shuffle = Shuffle::new(source.bytes() / block as u64, context.seed);
        let cases: Vec<(Case, u64, u64)> = match self {
            Self::Linear => positions(source.bytes(), block as u64)
                .into_iter()
                .map(|(name, start, blocks)| (Case::new().with("position", name), start, blocks))
                .collect(),
            Self::Buffered => vec![(Case::new(), 0, BUFFERED_READS)],
            _ => vec![(Case::new(), 0, source.bytes() / block as u64)],
        };
        for (case, start, blocks) in cases {
            let place = |n: u64| match self {
                Self::Linear => start + n * block as u64,
                Self::Buffered => 0,
                _ => shuffle.at(n) * block as u64,
            };
            let shape = Shape {
                count: blocks,
                ..Shape::of_file(block, source.bytes(), limit_s, block < 64 << 10)
            };
            let metric = self.metric().id;
            report::rounds(context, &case, |clock, seen| {
                let (pass, checksum) = read(&source, clock, shape, place, metric, seen)?;
                Ok(vec![match self {
                    Self::AccessTime => Reading {
                        value: pass.elapsed_ns / pass.chunks as f64 * 1e-6,
                        ..report::rate(metric, &case, &pass, checksum)
                    },
                    _ => report::rate(metric, &case, &pass, checksum),
                }])
            });
        }
        Ok(())
    }
}

/// Reads of the same block in one pass of `disk.buffered`, at most.
const BUFFERED_READS: u64 = 1 << 14;

fn read(
    source: &Source,
    clock: &Clock,
    shape: Shape,
    place: impl Fn(u64) -> u64,
    metric: &'static str,
    seen: &mut report::Seen,
) -> Result<(Pass, u64), Failure> {
    let mut buffer = Aligned::new(shape.chunk);
    source.forget()?;
    let open = source.open()?;
    let before = source.before()?;
    let pass = timed(clock, shape, "pread", |n| {
        let read = pentathlon_os::disk::open::read_at(&open, buffer.bytes_mut(), place(n))?;
        Ok((read, super::content::observed(place(n), buffer.bytes())))
    })?;
    seen.note(metric, before.judge(pass.bytes));
    let checksum = source.proven(&pass, place)?;
    Ok((pass, checksum))
}

/// Name, first byte and number of blocks of each part that is read in order: an eighth each.
fn positions(bytes: u64, block: u64) -> [(&'static str, u64, u64); 3] {
    let blocks = bytes / block;
    let part = (blocks / 8).max(1);
    let at = |first: u64| first.min(blocks - part) * block;
    [
        ("beginning", 0, part),
        ("middle", at(blocks / 2 - part.min(blocks / 2) / 2), part),
        ("end", at(blocks - part), part),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_lie_where_their_names_say_and_inside_the_file() {
        for blocks in [1, 2, 8, 9, 1000] {
            let [first, middle, last] = positions(blocks * 4096 + 100, 4096);
            assert_eq!(first.1, 0);
            assert_eq!(last.1 + last.2 * 4096, blocks * 4096);
            assert!(middle.1 + middle.2 * 4096 <= blocks * 4096);
            if blocks >= 8 {
                assert!(first.1 + first.2 * 4096 <= middle.1);
                assert!(middle.1 + middle.2 * 4096 <= last.1);
            }
        }
    }
}
