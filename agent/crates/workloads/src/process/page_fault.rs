//! `process.page_fault`: the first touch of new memory, and of a page that must come from the disk.

use super::entry;
#[cfg(any(target_os = "linux", windows))]
use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{Context, Failure};
use pentathlon_protocol::catalog::{self, Factor, Parameter, Semantics};

#[cfg(any(target_os = "linux", windows))]
use super::directory;
#[cfg(any(target_os = "linux", windows))]
use pentathlon_harness::measure::Reading;
#[cfg(target_os = "linux")]
use pentathlon_os::filesystem;
#[cfg(target_os = "linux")]
use pentathlon_os::mmap::{self, Advice};
#[cfg(any(target_os = "linux", windows))]
use pentathlon_os::mmap::{page_bytes, Mapping};
#[cfg(target_os = "linux")]
use pentathlon_os::rusage;
#[cfg(any(target_os = "linux", windows))]
use pentathlon_protocol::Case;
#[cfg(target_os = "linux")]
use std::{fs::File, io::Write};

pub struct PageFault;

const KINDS: &[&str] = &["minor", "major"];
#[cfg(target_os = "linux")]
const NAME: &str = "paged";
/// Share of the touched pages that must have been faults of the kind, for a round to count.
#[cfg(any(target_os = "linux", windows))]
const LEAST_SHARE: f64 = 0.95;

impl pentathlon_harness::Workload for PageFault {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.page_fault",
            title: "Page fault",
            summary: "Pages are touched for the first time, one after another: new private memory \
                      (minor), or a file whose pages the kernel has just been made to drop \
                      (major). The kernel's own count of faults proves of which kind they were.",
            source: "McVoy and Staelin 1996, lmbench lat_pagefault; getrusage(2)",
            parameters: vec![
                Parameter::texts_of("kind", KINDS)
                    .described("minor: no disk is needed; major: the page is read from the disk"),
                Parameter::integers("pages", &[256])
                    .limits(16.0, (1u64 << 18) as f64)
                    .described("pages touched in one go"),
            ],
            factors: vec![
                Factor::category("kind", "kind"),
                Factor::new("pages", "pages", None, "log2"),
            ],
            metrics: entry::time("Time per fault"),
            checksum: "a page at a time: 1",
            semantics: Semantics {
                linux: "a write to each page of a MAP_PRIVATE|MAP_ANONYMOUS mapping without huge \
                        pages; a read of each page of a MAP_SHARED mapping of a file in the \
                        scratch directory, in random order with MADV_RANDOM, so that nothing is \
                        read ahead, after posix_fadvise(2) with POSIX_FADV_DONTNEED; what lies \
                        below (a host's cache, a disk's) may still hold the page",
                windows: "minor: a write to each page of new memory of VirtualAlloc, proved by \
                          PageFaultCount of GetProcessMemoryInfo; major: unsupported, the system \
                          counts both kinds together, so nothing proves that the disk was needed",
            },
        }
    }

    #[cfg(any(target_os = "linux", windows))]
    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let _inside = directory::enter_scratch(context)?;
        let parameters = context.parameters.clone();
        for kind in parameters.texts("kind") {
            for pages in parameters.integers("pages") {
                let case = Case::new().with("kind", kind).with("pages", pages);
                let outcome = match kind {
                    "minor" => minor(context, &case, pages as usize),
                    _ => major(context, &case, pages as usize),
                };
                if let Err(failure) = outcome {
                    context.fail(Some(&case), &failure);
                }
            }
        }
        #[cfg(target_os = "linux")]
        std::fs::remove_file(NAME).ok();
        Ok(())
    }

    #[cfg(not(any(target_os = "linux", windows)))]
    fn run(&self, _context: &mut Context<'_>) -> Result<(), Failure> {
        Err(Failure::Unsupported(
            "the calls of this workload are not written down for this system".into(),
        ))
    }
}

/// Time in touching pages, and what the kernel counted meanwhile.
#[cfg(any(target_os = "linux", windows))]
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Touched {
    pages: u64,
    elapsed_ns: f64,
    minor_faults: u64,
    major_faults: u64,
}

#[cfg(any(target_os = "linux", windows))]
impl Touched {
    /// Times `touch`, which touches so many pages.
    fn add(&mut self, clock: &Clock, pages: usize, touch: impl FnOnce()) -> Result<(), Failure> {
        let before = counted()?;
        let from = clock.ticks();
        touch();
        let to = clock.ticks();
        let after = counted()?;
        self.pages += pages as u64;
        self.elapsed_ns += clock.elapsed_ns(from, to);
        self.minor_faults += after.0.wrapping_sub(before.0);
        self.major_faults += after.1.wrapping_sub(before.1);
        Ok(())
    }

    fn reading(&self, case: &Case) -> Reading {
        Reading {
            metric: "time",
            case: case.clone(),
            value: self.elapsed_ns / self.pages as f64,
            operations: self.pages,
            elapsed_ns: self.elapsed_ns,
            checksum: 1,
        }
    }

    /// Whether nearly every page was a fault that no disk was needed for.
    fn was_minor(&self) -> Result<(), Failure> {
        if self.minor_faults == 0 && self.major_faults == 0 {
            return Err(Failure::Unsupported(
                "the system counts no page faults, so nothing proves that there were any".into(),
            ));
        }
        enough(self.minor_faults, self.pages, "minor")
    }

    /// Whether nearly every page was read from the disk.
    #[cfg(target_os = "linux")]
    fn was_major(&self) -> Result<(), Failure> {
        if self.major_faults == 0 {
            return Err(Failure::Unsupported(format!(
                "none of {} touches of a dropped page was a major fault: the file system of the \
                 scratch directory keeps its pages, or the system does not count major faults",
                self.pages
            )));
        }
        // Linux reads 16 pages or more around one, and an emulator of programs (qemu-user) does
        // not pass the advice against it on.
        if self.major_faults * FEWEST_READ_AROUND <= self.pages {
            return Err(Failure::Unsupported(format!(
                "{} of {} touches of a dropped page were major faults: the system reads the pages \
                 around one too, although it is advised not to (madvise(2), MADV_RANDOM)",
                self.major_faults, self.pages
            )));
        }
        enough(self.major_faults, self.pages, "major")
    }
}

/// Pages of a fault from which on it is one of a system that reads neighbours too.
#[cfg(target_os = "linux")]
const FEWEST_READ_AROUND: u64 = 8;

#[cfg(any(target_os = "linux", windows))]
fn enough(faults: u64, pages: u64, kind: &str) -> Result<(), Failure> {
    if (faults as f64) < LEAST_SHARE * pages as f64 {
        return Err(Failure::Invalid(format!(
            "{faults} of {pages} touches of a page were {kind} faults: the others found it there"
        )));
    }
    Ok(())
}

/// Minor and major page faults of this process so far.
#[cfg(target_os = "linux")]
fn counted() -> Result<(u64, u64), Failure> {
    let usage = rusage::own().map_err(|e| Failure::system("getrusage", &e))?;
    Ok((usage.minor_faults, usage.major_faults))
}

/// Windows counts both kinds together; new memory has only minor ones.
#[cfg(windows)]
fn counted() -> Result<(u64, u64), Failure> {
    let usage =
        pentathlon_os::usage::own().map_err(|e| Failure::system("GetProcessMemoryInfo", &e))?;
    Ok((u64::from(usage.page_faults), 0))
}

/// New private memory of base pages.
#[cfg(any(target_os = "linux", windows))]
fn new(bytes: usize) -> Result<Mapping, Failure> {
    let memory = Mapping::anonymous(bytes).map_err(|e| Failure::system("mapping memory", &e))?;
    // A kernel without huge pages does not know the advice, and needs none.
    #[cfg(target_os = "linux")]
    memory.advise(Advice::BasePages).ok();
    Ok(memory)
}

/// Gives the pages back, so that the next touch of each is the first again.
#[cfg(target_os = "linux")]
fn renew(memory: &mut Mapping, _bytes: usize) -> Result<(), Failure> {
    memory
        .advise(Advice::Free)
        .map_err(|e| Failure::system("giving memory back", &e))
}

#[cfg(windows)]
fn renew(memory: &mut Mapping, bytes: usize) -> Result<(), Failure> {
    *memory = new(bytes)?;
    Ok(())
}

#[cfg(any(target_os = "linux", windows))]
fn minor(context: &mut Context<'_>, case: &Case, pages: usize) -> Result<(), Failure> {
    let page = page_bytes();
    let mut memory = new(pages * page)?;
    let mut turn = 0u8;
    context.rounds(case, |clock, sample_ns| {
        let mut touched = Touched::default();
        while touched.elapsed_ns < sample_ns {
            renew(&mut memory, pages * page)?;
            turn = turn.wrapping_add(1).max(1);
            touched.add(clock, pages, || {
                for number in 0..pages {
                    memory.write(number * page, turn);
                }
            })?;
            let kept = (0..pages).all(|n| memory.read(n * page) == turn);
            if !kept {
                return Err(Failure::Invalid("a page lost what was written".into()));
            }
        }
        touched.was_minor()?;
        Ok(vec![touched.reading(case)])
    });
    Ok(())
}

#[cfg(windows)]
fn major(_context: &mut Context<'_>, _case: &Case, _pages: usize) -> Result<(), Failure> {
    Err(Failure::Unsupported(
        "the system counts the page faults of a process together, so nothing proves that the disk \
         was needed"
            .into(),
    ))
}

#[cfg(target_os = "linux")]
fn major(context: &mut Context<'_>, case: &Case, pages: usize) -> Result<(), Failure> {
    if let Ok(kind @ ("tmpfs" | "ramfs")) = filesystem::kind(&context.scratch).as_deref() {
        return Err(Failure::Unsupported(format!(
            "the scratch directory lies on {kind}, whose pages are on no disk; another scratch \
             directory is needed"
        )));
    }
    let page = page_bytes();
    let file = written(pages, page).map_err(|e| Failure::system("writing the file", &e))?;
    let order = shuffled(pages, context.seed);
    context.rounds(case, |clock, sample_ns| {
        let mut touched = Touched::default();
        while touched.elapsed_ns < sample_ns {
            mmap::drop_cached(&file).map_err(|e| Failure::system("dropping pages", &e))?;
            let memory = Mapping::of_file(&file, pages * page)
                .map_err(|e| Failure::system("mapping the file", &e))?;
            memory
                .advise(Advice::Random)
                .map_err(|e| Failure::system("madvise", &e))?;
            let mut right = 0;
            touched.add(clock, pages, || {
                for &number in &order {
                    right += usize::from(memory.read(number * page) == mark(number));
                }
            })?;
            if right != pages {
                return Err(Failure::Invalid(format!(
                    "{right} of {pages} pages held what was written"
                )));
            }
        }
        touched.was_major()?;
        Ok(vec![touched.reading(case)])
    });
    Ok(())
}

/// The first byte of a page of the file; it differs from its neighbours'.
#[cfg(target_os = "linux")]
fn mark(number: usize) -> u8 {
    (number % 251) as u8 + 1
}

/// A file of so many pages, all of them on the disk.
#[cfg(target_os = "linux")]
fn written(pages: usize, page: usize) -> std::io::Result<File> {
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(NAME)?;
    let mut block = vec![0; page];
    for number in 0..pages {
        block.fill(mark(number));
        file.write_all(&block)?;
    }
    file.sync_all()?;
    Ok(file)
}

/// The numbers below `count` in an order that the seed gives (Fisher and Yates).
#[cfg(target_os = "linux")]
fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut state = seed;
    for last in (1..count).rev() {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        order.swap(last, ((z ^ (z >> 31)) % (last as u64 + 1)) as usize);
    }
    order
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn pages_that_were_there_are_no_faults() {
        let found = |minor_faults, major_faults| Touched {
            pages: 1000,
            elapsed_ns: 1.0,
            minor_faults,
            major_faults,
        };
        assert_eq!(found(1000, 0).was_minor(), Ok(()));
        assert!(matches!(found(900, 0).was_minor(), Err(Failure::Invalid(s)) if s.contains("900")));
        assert!(matches!(
            found(0, 0).was_minor(),
            Err(Failure::Unsupported(_))
        ));
        assert_eq!(found(3, 1000).was_major(), Ok(()));
        assert!(matches!(
            found(1000, 0).was_major(),
            Err(Failure::Unsupported(_))
        ));
        assert!(matches!(
            found(900, 63).was_major(),
            Err(Failure::Unsupported(_))
        ));
        assert!(matches!(
            found(500, 500).was_major(),
            Err(Failure::Invalid(_))
        ));
    }

    #[test]
    fn every_page_is_touched_once_in_an_order_of_the_seed() {
        let order = shuffled(1000, 7);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..1000).collect::<Vec<_>>());
        assert_ne!(order, sorted);
        assert_ne!(order, shuffled(1000, 8));
        assert_eq!(order, shuffled(1000, 7));
    }
}
