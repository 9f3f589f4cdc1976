//! `disk.queue`: blocks at random places, with many requests under way at once, past the cache.

#[cfg(any(target_os = "linux", windows))]
use super::content::observed;
use super::content::Content;
#[cfg(any(target_os = "linux", windows))]
use super::file::short;
use super::file::{system, verify_blocks, TestFile};
use super::interface;
use super::shuffle::Shuffle;
use super::workdir::Workdir;
use super::{entry, latency, report};
use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{Context, Failure, Histogram, Outcome, Reading};
use pentathlon_os::disk::open::How;
#[cfg(any(target_os = "linux", windows))]
use pentathlon_os::disk::queue::Queue as Ring;
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;

pub struct Queue;

/// Most places that are worked out before the passes: 8 MiB of them. Those of a longer file are drawn
/// on the way.
const KNOWN: u64 = 1 << 20;
const OPERATIONS: [&str; 2] = ["random_read", "random_write"];
const LATENCY: catalog::Histogram = latency::histogram("Time from request to completion");

impl pentathlon_harness::Workload for Queue {
    fn describe(&self) -> catalog::Workload {
        let mut metrics = vec![Metric::higher("iops", "Requests per second", "1/s")];
        metrics.extend(latency::metrics());
        catalog::Workload {
            id: "disk.queue",
            title: "Queue of requests",
            summary: "Blocks at random places of a file are read or written past the cache, with \
                      a number of requests under way at all times; the time of each request is \
                      one value of a histogram.",
            source: "beyond the papers; the usual measure of solid-state disks, as in fio",
            parameters: vec![
                entry::file_bytes(64 << 20),
                Parameter::integer("block_bytes", 4096)
                    .unit("B")
                    .limits(4096.0, 16_777_216.0)
                    .described("bytes of one request, a multiple of 4096"),
                Parameter::integers("depth", &[1, 4, 16, 64])
                    .limits(1.0, 4096.0)
                    .described("requests under way at once"),
                Parameter::texts_of("operation", &OPERATIONS).described("what the requests do"),
                entry::limit_s(0.3),
                entry::directory(),
            ],
            factors: vec![
                Factor::new("depth", "Queue depth", None, "log2"),
                Factor::category("operation", "Operation"),
            ],
            metrics,
            checksum: "seed and size of the file, after the stamp of every block that was read, \
                       and every byte of every block that was written, had been compared",
            semantics: Semantics {
                linux: "io_uring(7) with one system call for all requests that became due, \
                        O_DIRECT; neither polling nor registered buffers",
                windows: "ReadFile and WriteFile with FILE_FLAG_OVERLAPPED and \
                          FILE_FLAG_NO_BUFFERING, one call for each request; a completion port \
                          returns all that are over with one call. Wine serves each request before \
                          its call returns, so that its queue is never deeper than 1",
            },
        }
    }

    fn switches(&self) -> bool {
        true
    }

    fn histograms(&self) -> Vec<catalog::Histogram> {
        vec![LATENCY]
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let block = context.parameters.integer("block_bytes") as usize;
        if !block.is_multiple_of(4096) {
            return Err(Failure::Failed(format!(
                "'block_bytes' is {block} B, it must be a multiple of 4096 B"
            )));
        }
        let workdir = Workdir::of(context)?;
        let bytes = entry::size(context, &workdir)? / block as u64 * block as u64;
        if bytes == 0 {
            return Err(Failure::Failed(format!(
                "a block of {block} B does not fit into the file: ask for a larger file_bytes"
            )));
        }
        let operations = entry::chosen(context, "operation");
        let limit_ns = context.parameters.number("limit_s") * 1e9;
        let seed = context.seed;
        let mut file = TestFile::make(&workdir, "file", bytes, block, seed)?;
        interface::open_direct(&file, true)?;
        let places = Places::new(bytes / block as u64, block as u64, seed);
        for operation in &operations {
            for depth in context.parameters.integers("depth") {
                let case = Case::new()
                    .with("depth", depth)
                    .with("operation", operation.as_str());
                let plan = Plan {
                    depth: depth as usize,
                    write: operation == "random_write",
                    block,
                    limit_ns: if limit_ns > 0.0 {
                        limit_ns
                    } else {
                        f64::INFINITY
                    },
                    places: &places,
                    count: bytes / block as u64,
                };
                report::rounds(context, &case, |clock, seen| {
                    round(&mut file, clock, &plan, seed, &case, seen)
                });
            }
        }
        Ok(())
    }
}

/// One pass: every block once, in random order, unless time is over before.
#[cfg_attr(not(any(target_os = "linux", windows)), allow(dead_code))]
struct Plan<'a> {
    depth: usize,
    write: bool,
    block: usize,
    limit_ns: f64,
    places: &'a Places,
    count: u64,
}

/// Where the blocks begin, in the order of their requests.
struct Places {
    known: Vec<u64>,
    order: Shuffle,
    block: u64,
}

impl Places {
    /// Works the first places out, so that no timed region does: a place takes up to 0.05 us, and a
    /// request to a fast device a few.
    fn new(count: u64, block: u64, seed: u64) -> Self {
        let order = Shuffle::new(count, seed);
        let known = (0..count.min(KNOWN)).map(|n| order.at(n) * block).collect();
        Self {
            known,
            order,
            block,
        }
    }

    fn at(&self, n: u64) -> u64 {
        let known = self.known.get(n as usize).copied();
        known.unwrap_or_else(|| self.order.at(n) * self.block)
    }
}

/// What a pass did.
struct Done {
    requests: u64,
    elapsed_ns: f64,
    sum: u64,
    latencies: Histogram,
}

fn round(
    file: &mut TestFile,
    clock: &Clock,
    plan: &Plan<'_>,
    seed: u64,
    case: &Case,
    seen: &mut report::Seen,
) -> Result<Vec<Outcome>, Failure> {
    file.forget()?;
    let generation = file.next_generation();
    // Blocks are written with content of their own, so that the file's is known again afterwards.
    let mut fresh = Content::new(seed ^ generation, plan.block);
    let before = file.before(true, file.bytes)?;
    let done = pass(file, clock, plan, &mut fresh)?;
    if plan.write {
        let open = file.reopen(How::READ)?;
        let places = (0..done.requests).map(|n| plan.places.at(n));
        verify_blocks(&open, &mut fresh, plan.block, 0, places)?;
        file.rewrite()?;
    } else {
        seen.note("iops", before.judge(done.requests * plan.block as u64));
        let place = |n| plan.places.at(n);
        file.proven(done.sum, done.requests, plan.block, place)?;
    }
    let checksum = file.content.checksum(file.bytes);
    let rate = Reading {
        metric: "iops",
        case: case.clone(),
        value: done.requests as f64 / done.elapsed_ns * 1e9,
        operations: done.requests,
        elapsed_ns: done.elapsed_ns,
        checksum,
    };
    Ok(latency::outcomes(rate, LATENCY, done.latencies))
}

#[cfg(any(target_os = "linux", windows))]
fn pass(
    file: &TestFile,
    clock: &Clock,
    plan: &Plan<'_>,
    fresh: &mut Content,
) -> Result<Done, Failure> {
    let open = interface::open_queued(file, plan.write)?;
    let mut ring =
        Ring::new(open, plan.depth, plan.block, 4096).map_err(|error| refused(&error))?;
    // Place and start of what is under way in each slot.
    let mut under_way = vec![(0u64, 0u64); plan.depth];
    let mut over = Vec::with_capacity(plan.depth);
    // Recorded after the pass: a histogram costs more than a request may take.
    let mut latencies = Vec::with_capacity(plan.count.min(1 << 22) as usize);
    let (mut started, mut requests, mut sum) = (0u64, 0u64, 0u64);
    let mut start = |ring: &mut Ring, slot: usize, n: u64| {
        let place = plan.places.at(n);
        if plan.write {
            let bytes = fresh.fresh(place, plan.block, 0);
            ring.slot(slot).copy_from_slice(bytes);
        }
        // Before it is put: on Windows that is where the system is called.
        let since = clock.ticks();
        ring.put(slot, plan.write, place);
        (place, since)
    };
    let from = clock.ticks();
    for (slot, entry) in under_way.iter_mut().enumerate() {
        if started < plan.count {
            *entry = start(&mut ring, slot, started);
            started += 1;
        }
    }
    while requests < started {
        ring.wait(&mut over)
            .map_err(|e| system("waiting for requests", &e))?;
        let now = clock.ticks();
        let open = clock.elapsed_ns(from, now) < plan.limit_ns;
        for (slot, moved) in over.drain(..) {
            let moved = moved.map_err(|e| system("a request", &e))?;
            if moved != plan.block {
                return Err(short("moved", moved, plan.block));
            }
            let (place, since) = under_way[slot];
            latencies.push(clock.elapsed_ns(since, now) as u64);
            requests += 1;
            if !plan.write {
                sum = sum.wrapping_add(observed(place, ring.slot(slot)));
            }
            if open && started < plan.count {
                under_way[slot] = start(&mut ring, slot, started);
                started += 1;
            }
        }
    }
    Ok(Done {
        requests,
        elapsed_ns: clock.elapsed_ns(from, clock.ticks()),
        sum,
        latencies: latencies.into_iter().collect(),
    })
}

#[cfg(target_os = "linux")]
fn refused(error: &std::io::Error) -> Failure {
    // Kernels before 5.1 do not know the call, sandboxes and sysctl kernel.io_uring_disabled
    // forbid it.
    match error.raw_os_error() {
        Some(libc::ENOSYS | libc::EPERM | libc::EACCES | libc::EOPNOTSUPP) => {
            Failure::Unsupported(format!("io_uring is refused by this kernel: {error}"))
        }
        _ => system("making an io_uring", error),
    }
}

#[cfg(windows)]
fn refused(error: &std::io::Error) -> Failure {
    system("making a completion port", error)
}

#[cfg(not(any(target_os = "linux", windows)))]
fn pass(
    _file: &TestFile,
    _clock: &Clock,
    _plan: &Plan<'_>,
    _fresh: &mut Content,
) -> Result<Done, Failure> {
    Err(Failure::Unsupported(
        "queues of requests are written for Linux and Windows only".into(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_are_drawn_on_the_way_go_on_with_the_same_order() {
        let count = KNOWN + 5;
        let places = Places::new(count, 512, 3);
        let order = Shuffle::new(count, 3);
        for n in [0, 1, KNOWN - 1, KNOWN, count - 1] {
            assert_eq!(places.at(n), order.at(n) * 512, "{n}");
        }
    }
}
