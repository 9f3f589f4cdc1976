//! `process.mmap_munmap`: making a mapping and removing it, with and without touching it.

use super::calls;
use super::directory;
use super::entry;
use pentathlon_harness::measure::{Context, Failure};
use pentathlon_os::mmap::{is_mapped, page_bytes, Mapping};
use pentathlon_protocol::catalog::{self, Factor, Parameter, Semantics};
use pentathlon_protocol::Case;
use std::io::Write;

pub struct MmapMunmap;

const BACKINGS: &[&str] = &["anonymous", "file"];
const NAME: &str = "mapped";

impl pentathlon_harness::Workload for MmapMunmap {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.mmap_munmap",
            title: "mmap and munmap",
            summary: "Memory or a file of the scratch directory is mapped, a share of its pages \
                      is written to, and it is unmapped.",
            source: "McVoy and Staelin 1996, lmbench lat_mmap",
            parameters: vec![
                Parameter::texts_of("backing", BACKINGS).described(
                    "anonymous: new private memory; file: a file in the page cache, shared",
                ),
                Parameter::integers("bytes", &[1 << 20])
                    .unit("B")
                    .limits(1.0, (1u64 << 32) as f64)
                    .described("lengths of the mapping"),
                Parameter::integers("touched_percent", &[0, 10])
                    .unit("%")
                    .limits(0.0, 100.0)
                    .described(
                        "share of the mapping whose pages are written to, from its beginning; \
                         lmbench's is 10",
                    ),
            ],
            factors: vec![
                Factor::category("backing", "backing"),
                Factor::bytes("bytes", "length"),
                Factor::new("touched_percent", "share touched", Some("%"), "linear"),
            ],
            metrics: entry::time("Time per mmap and munmap"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux: "mmap(2) with MAP_PRIVATE|MAP_ANONYMOUS or MAP_SHARED, munmap(2); each \
                        touched page is a page fault, but for the pages that the kernel maps \
                        ahead; what is written is read back, and afterwards the address must be \
                        free",
                windows: "VirtualAlloc with MEM_RESERVE|MEM_COMMIT and VirtualFree; for the file \
                          CreateFileMapping, MapViewOfFile, UnmapViewOfFile",
            },
        }
    }

    fn buffers(&self) -> u8 {
        1
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let _inside = directory::enter_scratch(context)?;
        let parameters = context.parameters.clone();
        for backing in parameters.texts("backing") {
            for bytes in parameters.integers("bytes") {
                for percent in parameters.integers("touched_percent") {
                    let case = Case::new()
                        .with("backing", backing)
                        .with("bytes", bytes)
                        .with("touched_percent", percent);
                    if let Err(failure) = measure(context, &case, backing, bytes, percent) {
                        context.fail(Some(&case), &failure);
                    }
                }
            }
        }
        std::fs::remove_file(NAME).ok();
        Ok(())
    }
}

fn measure(
    context: &mut Context<'_>,
    case: &Case,
    backing: &str,
    bytes: u64,
    percent: u64,
) -> Result<(), Failure> {
    let length = usize::try_from(bytes).unwrap_or(usize::MAX);
    let touched = (bytes * percent / 100) as usize;
    let file = match backing {
        "file" => Some(cached_file(length)?),
        _ => None,
    };
    let page = page_bytes();
    let mut last = 0;
    let mut turn = 0u8;
    let call = || {
        let mapping = match &file {
            Some(file) => Mapping::of_file(file, length),
            None => Mapping::anonymous(length),
        };
        let mut mapping = mapping.map_err(|e| Failure::system("mmap", &e))?;
        turn = turn.wrapping_add(1);
        for at in (0..touched).step_by(page) {
            mapping.write(at, turn);
        }
        let kept = touched == 0 || mapping.read((touched - 1) / page * page) == turn;
        last = mapping.unmap().map_err(|e| Failure::system("munmap", &e))?;
        Ok(kept)
    };
    calls::measure(context, case, call);
    if last != 0 && is_mapped(last) {
        return Err(Failure::Invalid(
            "the address of the last mapping is still mapped after munmap".into(),
        ));
    }
    Ok(())
}

/// A file of that length whose pages are in memory: it has just been written.
fn cached_file(length: usize) -> Result<std::fs::File, Failure> {
    let made = std::fs::File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(NAME)
        .and_then(|mut file| {
            let block = vec![0; 1 << 20];
            let mut left = length;
            while left > 0 {
                let part = left.min(block.len());
                file.write_all(&block[..part])?;
                left -= part;
            }
            Ok(file)
        });
    made.map_err(|e| Failure::system("making the file to map", &e))
}
