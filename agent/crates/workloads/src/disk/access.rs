//! `disk.access`: a file is read, written and read again in chunks, by every interface.

use super::entry::Sweep;
use super::file::TestFile;
use super::interface::{self, Interface};
use super::served::Observation;
use super::sweep::{Pass, Shape};
use super::workdir::Workdir;
use super::{entry, report};
use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{Context, Failure, Reading};
use pentathlon_protocol::catalog::{self, Factor, Parameter, Semantics};
use pentathlon_protocol::Case;

pub struct Access;

impl pentathlon_harness::Workload for Access {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "disk.access",
            title: "Read, write and read a file again",
            summary: "A file that is not in the cache is read from its start, written anew and \
                      read again, in chunks, by C streams with and without a buffer, by \
                      descriptors with and without synchronous writes, by mappings, and past the \
                      cache.",
            source: "venkata2003 §4.1 and §7.2, Fig. 7 to 14, 38 and 39; venkata2003 §4.4, Fig. 23 \
                     and 24, with 'directory' on a remote file system",
            parameters: vec![
                entry::file_bytes(64 << 20),
                entry::chunks(
                    &[1 << 10, 8 << 10, 64 << 10, 1 << 20],
                    64,
                    "bytes read or written by one call; up to the size of the file, as in the \
                     paper",
                ),
                Parameter::texts_of("interface", &interface::NAMES).described(
                    "the interfaces to measure",
                ),
                entry::limit_s(0.2),
                entry::directory(),
            ],
            factors: vec![
                Factor::category("interface", "Interface"),
                Factor::bytes("chunk_bytes", "Chunk size"),
            ],
            metrics: vec![
                entry::rate("read_first", "First read"),
                entry::rate("write", "Write"),
                entry::rate("read_again", "Read after the write"),
            ],
            checksum: entry::PROOF,
            semantics: Semantics {
                linux: "fopen(3) with the C library's own buffer or none (setvbuf(3)), fread, \
                        fwrite and fflush; read(2) and write(2), with O_SYNC for \
                        descriptor_sync, which in Linux concerns writes only; mmap(2), copy, \
                        msync(2) with MS_SYNC after each written chunk, munmap(2); O_DIRECT for \
                        direct. The cache is made to forget the file's own pages \
                        (posix_fadvise(2)) before the first read and not after. Opening, closing \
                        and the write-back of what a buffered write left are not timed",
                windows: "the C run-time library's streams; ReadFile and WriteFile, with \
                          FILE_FLAG_WRITE_THROUGH or FILE_FLAG_NO_BUFFERING; MapViewOfFile, copy, \
                          FlushViewOfFile and FlushFileBuffers after each written chunk, \
                          UnmapViewOfFile; no call makes the system forget one file, so who answered is unknown",
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
        let limit_s = context.parameters.number("limit_s");
        let longest = sweep.chunks.iter().copied().max().unwrap_or(1);
        let mut file = TestFile::make(&workdir, "file", sweep.bytes, longest, context.seed)?;
        for (name, chunk, case) in sweep.cases() {
            let shape = Shape::of_file(chunk, sweep.bytes, limit_s, false);
            report::rounds(context, &case, |clock, seen| {
                let interface = Interface::named(name);
                round(interface, &mut file, clock, shape, &case, seen)
            });
        }
        Ok(())
    }
}

fn round(
    interface: Interface,
    file: &mut TestFile,
    clock: &Clock,
    shape: Shape,
    case: &Case,
    seen: &mut report::Seen,
) -> Result<Vec<Reading>, Failure> {
    let direct = interface == Interface::Direct;
    file.forget()?;
    let (first, answered) = observed_read(interface, file, clock, shape, direct)?;
    seen.note("read_first", answered);
    let generation = file.next_generation();
    let written = interface::write(interface, file, clock, shape, generation)?;
    // A write that was cut short left the old content behind it; both are known.
    let again = Shape {
        count: written.chunks,
        ..shape
    };
    let (second, answered) = observed_read(interface, file, clock, again, direct)?;
    seen.note("read_again", answered);
    file.verify(written.bytes, None)?;
    let checksum = file.content.checksum(file.bytes);
    Ok([
        ("read_first", first),
        ("write", written),
        ("read_again", second),
    ]
    .into_iter()
    .map(|(metric, pass)| report::rate(metric, case, &pass, checksum))
    .collect())
}

fn observed_read(
    interface: Interface,
    file: &TestFile,
    clock: &Clock,
    shape: Shape,
    direct: bool,
) -> Result<(Pass, Observation), Failure> {
    let before = file.before(direct, shape.count * shape.chunk as u64)?;
    let pass = interface::read(interface, file, clock, shape)?;
    let answered = before.judge(pass.bytes);
    file.proven(pass.sum, pass.chunks, shape.chunk, |n| {
        n * shape.chunk as u64
    })?;
    Ok((pass, answered))
}
