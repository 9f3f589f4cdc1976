//! `disk.order`: the same amount read in order, and at random places on and off the chunks'
//! boundaries.

use super::content::{observed, Aligned};
use super::entry::Sweep;
use super::file::TestFile;
use super::shuffle::Shuffle;
use super::sweep::{timed, Shape};
use super::workdir::Workdir;
use super::{entry, report};
use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{Context, Failure, Reading};
use pentathlon_harness::Random;
use pentathlon_os::disk::open::{read_at, How};
use pentathlon_protocol::catalog::{self, Factor, Parameter, Semantics};
use pentathlon_protocol::Case;

pub struct Order;

const ORDERS: [&str; 3] = ["sequential", "random_aligned", "random_unaligned"];
/// Most places that are worked out before a pass; a pass that is longer goes round again.
const PLACES: u64 = 1 << 20;

impl pentathlon_harness::Workload for Order {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "disk.order",
            title: "Sequential against random reads",
            summary: "A file that is not in the cache is read in chunks: in order, in random \
                      order at multiples of the chunk, and at random odd places.",
            source: "venkata2003 §4.2 and §7.2, Fig. 15 to 18, 40 and 41",
            parameters: vec![
                entry::file_bytes(64 << 20),
                entry::chunks(
                    &[
                        1 << 10,
                        2 << 10,
                        4 << 10,
                        8 << 10,
                        16 << 10,
                        32 << 10,
                        64 << 10,
                        96 << 10,
                        128 << 10,
                        256 << 10,
                        512 << 10,
                        1 << 20,
                    ],
                    512,
                    "bytes read by one call; the paper looks for the read-ahead between 1 KiB and \
                     128 KiB",
                ),
                Parameter::texts_of("order", &ORDERS).described("the orders to measure"),
                entry::limit_s(0.2),
                entry::directory(),
            ],
            factors: vec![
                Factor::category("order", "Order"),
                Factor::bytes("chunk_bytes", "Chunk size"),
            ],
            metrics: vec![entry::rate("rate", "Read rate")],
            checksum: entry::PROOF,
            semantics: Semantics {
                linux: "pread64(2) of a descriptor opened without flags (the paper opens with \
                        O_SYNC, which does not concern reads); places are worked out before the \
                        timed region; the cache forgets the file's own pages before each pass. \
                        Random aligned chunks are read once each; where a chunk is smaller than a \
                        page, its neighbours find the page in the cache",
                windows: "ReadFile at an offset; no call makes the system forget one file, so who \
                          answered is unknown",
            },
        }
    }

    fn switches(&self) -> bool {
        true
    }

    fn timeout_s(&self) -> Option<f64> {
        Some(300.0)
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let workdir = Workdir::of(context)?;
        let sweep = Sweep::of(context, &workdir, "order")?;
        let limit_s = context.parameters.number("limit_s");
        let seed = context.seed;
        let file = TestFile::make(&workdir, "file", sweep.bytes, 0, seed)?;
        for (order, chunk, case) in sweep.cases() {
            let places = places(order, sweep.bytes, chunk as u64, seed);
            let shape = Shape::of_file(chunk, sweep.bytes, limit_s, false);
            report::rounds(context, &case, |clock, seen| {
                round(&file, clock, shape, &places, &case, seen)
            });
        }
        Ok(())
    }
}

fn round(
    file: &TestFile,
    clock: &Clock,
    shape: Shape,
    places: &[u64],
    case: &Case,
    seen: &mut report::Seen,
) -> Result<Vec<Reading>, Failure> {
    file.forget()?;
    let open = file.reopen(How::READ)?;
    let mut buffer = Aligned::new(shape.chunk);
    let before = file.before(false, file.bytes)?;
    let place = |n: u64| places[n as usize % places.len()];
    let pass = timed(clock, shape, "pread", |n| {
        let read = read_at(&open, buffer.bytes_mut(), place(n))?;
        Ok((read, observed(place(n), buffer.bytes())))
    })?;
    seen.note("rate", before.judge(pass.bytes));
    let checksum = file.proven(pass.sum, pass.chunks, shape.chunk, place)?;
    Ok(vec![report::rate("rate", case, &pass, checksum)])
}

/// Where each chunk begins, in the order of reading.
fn places(order: &str, file_bytes: u64, chunk: u64, seed: u64) -> Vec<u64> {
    let count = file_bytes / chunk;
    let wanted = count.min(PLACES);
    match order {
        "sequential" => (0..wanted).map(|n| n * chunk).collect(),
        "random_aligned" => {
            let shuffle = Shuffle::new(count, seed);
            (0..wanted).map(|n| shuffle.at(n) * chunk).collect()
        }
        _ => {
            let mut random = Random::new(seed);
            let last = (file_bytes - chunk) as usize;
            // Odd, so that neither a page nor a block begins there.
            (0..wanted)
                .map(|_| (random.below(last.max(1)) | 1).min(last) as u64)
                .collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const FILE: u64 = 1 << 20;

    #[test]
    fn every_chunk_is_read_once_in_order_and_in_random_order() {
        let sequential = places("sequential", FILE, 4096, 1);
        let random = places("random_aligned", FILE, 4096, 1);
        assert_ne!(sequential, random);
        let sorted: BTreeSet<_> = random.iter().copied().collect();
        assert!(sorted.into_iter().eq(sequential.iter().copied()));
        // Random means that hardly a chunk follows its neighbour.
        let neighbours = random.windows(2).filter(|w| w[1] == w[0] + 4096).count();
        assert!(neighbours < 8, "{neighbours}");
    }

    #[test]
    fn unaligned_places_are_odd_and_inside_the_file() {
        for chunk in [1024, 4096, FILE / 2] {
            let places = places("random_unaligned", FILE, chunk, 1);
            assert_eq!(places.len() as u64, FILE / chunk);
            for place in places {
                assert!(place % 2 == 1 && place + chunk <= FILE, "{place}");
            }
        }
        assert_eq!(places("random_unaligned", FILE, FILE, 1), [0]);
    }
}
