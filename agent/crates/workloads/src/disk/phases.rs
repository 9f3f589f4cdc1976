//! `disk.phases`: every chunk of a file is read, changed and written back, by read and write or
//! through a mapping; each phase is timed by itself.

use super::content::Aligned;
use super::entry::Sweep;
use super::file::{short, system, TestFile};
use super::workdir::Workdir;
use super::{entry, report};
use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{Context, Failure, Reading};
use pentathlon_os::disk::map::{boundary, Map};
use pentathlon_os::disk::open::{read_at, write_at, How};
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;

pub struct Phases;

const INTERFACES: [&str; 2] = ["read", "mmap"];
const PHASES: [&str; 4] = ["read", "loop", "write", "total"];

/// What the paper's loop does to every byte.
fn change(byte: u8) -> u8 {
    byte.wrapping_add(5) % 250
}

impl pentathlon_harness::Workload for Phases {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "disk.phases",
            title: "Phases of changing a file: read against mmap",
            summary: "A file that is not in the cache is read chunk by chunk, every byte is \
                      changed in a loop, and the chunk is written back to the device; the time of \
                      each phase is summed over the file.",
            source: "venkata2003 §4.3, Fig. 19 to 22",
            parameters: vec![
                entry::file_bytes(4 << 20),
                entry::chunks(
                    &[16 << 10, 128 << 10, 1 << 20],
                    512,
                    "bytes changed at a time; the paper has 1 KiB to 64 MiB",
                ),
                Parameter::texts_of("interface", &INTERFACES)
                    .described("the interfaces to measure"),
                entry::directory(),
            ],
            factors: vec![
                Factor::category("interface", "Interface"),
                Factor::category("phase", "Phase"),
                Factor::bytes("chunk_bytes", "Chunk size"),
            ],
            metrics: vec![Metric::lower(
                "time",
                "Time of the phase over the whole file",
                "s",
            )],
            checksum: "seed and size of the file, after every byte had been compared with what \
                       the change makes of it",
            semantics: Semantics {
                linux:
                    "read: pread64(2), a loop over the buffer, pwrite64(2) of a descriptor with \
                        O_SYNC. mmap: mmap(2), the same loop over the mapping, msync(2) with \
                        MS_SYNC and munmap(2); the paper's munmap alone leaves the writing to the \
                        system, so its write phase is shorter. The file's own pages are forgotten \
                        before each pass. The clock is read four times for each chunk",
                windows: "read: ReadFile, WriteFile with FILE_FLAG_WRITE_THROUGH. mmap: \
                          CreateFileMapping, MapViewOfFile, FlushViewOfFile, FlushFileBuffers and \
                          UnmapViewOfFile for each chunk; a view begins on a multiple of 64 KiB",
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
        let sweep = Sweep::of(context, &workdir, "interface")?;
        let mut file = TestFile::make(&workdir, "file", sweep.bytes, 0, context.seed)?;
        for (interface, chunk, case) in sweep.cases() {
            report::rounds(context, &case, |clock, seen| {
                round(interface, &mut file, clock, chunk, seen)
            });
        }
        Ok(())
    }
}

/// Times of the phases, in ns.
#[derive(Default)]
struct Times {
    read: f64,
    change: f64,
    write: f64,
    total: f64,
}

fn round(
    interface: &str,
    file: &mut TestFile,
    clock: &Clock,
    chunk: usize,
    seen: &mut report::Seen,
) -> Result<Vec<Reading>, Failure> {
    file.rewrite()?;
    file.forget()?;
    let before = file.before(false, file.bytes)?;
    let count = file.bytes / chunk as u64;
    let times = match interface {
        "read" => by_calls(file, clock, chunk, count)?,
        _ => by_mapping(file, clock, chunk, count)?,
    };
    seen.note("time", before.judge(count * chunk as u64));
    file.verify(count * chunk as u64, Some(change))?;
    let checksum = file.content.checksum(file.bytes);
    let values = [times.read, times.change, times.write, times.total];
    Ok(PHASES
        .iter()
        .zip(values)
        .map(|(&phase, ns)| Reading {
            metric: "time",
            case: Case::new()
                .with("interface", interface)
                .with("phase", phase)
                .with("chunk_bytes", chunk as u64),
            value: ns * 1e-9,
            operations: count,
            elapsed_ns: ns,
            checksum,
        })
        .collect())
}

fn by_calls(file: &TestFile, clock: &Clock, chunk: usize, count: u64) -> Result<Times, Failure> {
    let open = file.reopen(How {
        sync: true,
        ..How::WRITE
    })?;
    let mut buffer = Aligned::new(chunk);
    let mut times = Times::default();
    let start = clock.ticks();
    for n in 0..count {
        let position = n * chunk as u64;
        let from = clock.ticks();
        let read = read_at(&open, buffer.bytes_mut(), position)
            .map_err(|e| system("reading a chunk", &e))?;
        let filled = clock.ticks();
        if read != chunk {
            return Err(short("read", read, chunk));
        }
        for byte in buffer.bytes_mut() {
            *byte = change(*byte);
        }
        let changed = clock.ticks();
        let written =
            write_at(&open, buffer.bytes(), position).map_err(|e| system("writing a chunk", &e))?;
        let to = clock.ticks();
        if written != chunk {
            return Err(short("written", written, chunk));
        }
        times.read += clock.elapsed_ns(from, filled);
        times.change += clock.elapsed_ns(filled, changed);
        times.write += clock.elapsed_ns(changed, to);
    }
    times.total = clock.elapsed_ns(start, clock.ticks());
    Ok(times)
}

fn by_mapping(file: &TestFile, clock: &Clock, chunk: usize, count: u64) -> Result<Times, Failure> {
    let open = file.reopen(How::WRITE)?;
    let boundary = boundary();
    let mut times = Times::default();
    let start = clock.ticks();
    for n in 0..count {
        let from = clock.ticks();
        let mut map = Map::new(&open, n * chunk as u64, chunk, true, boundary)
            .map_err(|e| system("mapping a chunk", &e))?;
        let mapped = clock.ticks();
        for byte in map.bytes_mut() {
            *byte = change(*byte);
        }
        let changed = clock.ticks();
        map.sync()
            .map_err(|e| system("writing a mapping back", &e))?;
        drop(map);
        let to = clock.ticks();
        times.read += clock.elapsed_ns(from, mapped);
        times.change += clock.elapsed_ns(mapped, changed);
        times.write += clock.elapsed_ns(changed, to);
    }
    times.total = clock.elapsed_ns(start, clock.ticks());
    Ok(times)
}
