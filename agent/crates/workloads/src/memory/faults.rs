//! `memory.faults`: how often the system faults while the block set runs, by its own counters.

use super::blocks::{self, ACCESSES};
use super::sizes;
use super::worker_blocks::WorkerBlocks;
use pentathlon_harness::measure::{Context, Failure, Reading};
#[cfg(windows)]
use pentathlon_os::region::{Pages, Region};
use pentathlon_protocol::catalog::{self, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;
use serde_json::json;

pub struct Faults;

/// How long each access of the set takes, in ns.
const ACCESS_NS: f64 = 1e6;

impl pentathlon_harness::Workload for Faults {
    fn describe(&self) -> catalog::Workload {
        let metric = |id, title| Metric::lower(id, title, "1/s");
        catalog::Workload {
            id: "memory.faults",
            title: "Faults beside the block set",
            summary: "Takes blocks from the system, reads, writes, copies and samples them and \
                      gives them back, again and again, while the system counts its faults.",
            source: "martinovic2012 §4.1, Tab. 1, 3 and 10 (Performance Monitor beside PCMark05)",
            parameters: vec![
                blocks::sizes_parameter(),
                Parameter::integer("window_ms", 500)
                    .unit("ms")
                    .limits(1.0, 600_000.0)
                    .described("shortest time for which the set is repeated in one round"),
            ],
            factors: vec![],
            metrics: vec![
                metric("page_faults", "Page faults"),
                metric("page_reads", "Page reads (hard faults)"),
                metric("cache_faults", "Cache faults"),
            ],
            checksum: "exclusive or of the checksums of read, write, copy and random over the \
                       block sizes, as of memory.blocks",
            semantics: Semantics {
                linux:
                    "the whole system's, as on Windows: page_faults is pgfault of /proc/vmstat, \
                        page_reads is pgmajfault, one per fault that waited for a read; \
                        cache_faults: unsupported, Linux does not count what its page cache misses",
                windows: "NtQuerySystemInformation: page_faults is PageFaultCount, page_reads is \
                          PageReadIoCount, cache_faults the sum of CacheTransitionCount and \
                          CacheReadCount; unsupported where a new page is not counted, as on Wine",
            },
        }
    }

    /// A machine with enough memory has no hard faults for minutes.
    fn may_be_zero(&self) -> &'static [&'static str] {
        &["page_faults", "page_reads", "cache_faults"]
    }

    fn context(&self) -> &'static [&'static str] {
        &["page_faults", "page_reads", "cache_faults"]
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        alive()?;
        let sizes = sizes::rounded(&context.parameters.integers("block_bytes"));
        let window_ns = context.parameters.integer("window_ms") as f64 * 1e6;
        let seed = context.seed;
        let mut moved = Vec::new();
        context.rounds(&Case::new(), |clock, _| {
            let before = totals()?;
            let from = clock.ticks();
            let (mut sets, mut elapsed_ns, mut checksum) = (0u64, 0.0, 0);
            while sets == 0 || elapsed_ns < window_ns {
                checksum = sizes.iter().try_fold(0, |all, &bytes| {
                    let mut worker_blocks = WorkerBlocks::new("one", bytes, seed)?;
                    Ok(all ^ worker_blocks.unreported(&ACCESSES, ACCESS_NS, clock)?)
                })?;
                elapsed_ns = clock.elapsed_ns(from, clock.ticks());
                sets += 1;
            }
            let after = totals()?;
            let reading = |metric, name| {
                let difference = after.moved(&before, name)?;
                Ok(Reading {
                    metric,
                    case: Case::new(),
                    value: difference as f64 / elapsed_ns * 1e9,
                    operations: sets,
                    elapsed_ns,
                    checksum,
                })
            };
            let readings = vec![
                reading("page_faults", PAGE_FAULTS)?,
                reading("page_reads", PAGE_READS)?,
                #[cfg(windows)]
                reading("cache_faults", "CacheFaults")?,
            ];
            moved.push(after.all_moved(&before, elapsed_ns));
            Ok(readings)
        });
        for (round, mut counts) in moved.into_iter().enumerate() {
            counts["round"] = json!(round);
            context.counter(COUNTERS.into(), counts);
        }
        #[cfg(not(windows))]
        context.fail(
            Some(&Case::new()),
            &Failure::Unsupported(
                "cache_faults: the system does not count what its page cache misses; the nearest, \
                 pages read in and pages read again after they were dropped, are in the counter \
                 memory.faults.vmstat"
                    .into(),
            ),
        );
        Ok(())
    }
}

/// The system's counters, one to a line, as `/proc/vmstat` has them.
struct Totals(String);

#[cfg(not(windows))]
mod names {
    pub const COUNTERS: &str = "memory.faults.vmstat";
    pub const SOURCE: &str = "/proc/vmstat";
    pub const PAGE_FAULTS: &str = "pgfault";
    pub const PAGE_READS: &str = "pgmajfault";
    /// What is kept beside the metrics: kibibytes read in, and pages of files that were read
    /// again.
    pub const ADDITIONAL: [&str; 4] =
        [PAGE_FAULTS, PAGE_READS, "pgpgin", "workingset_refault_file"];
}

#[cfg(windows)]
mod names {
    pub const COUNTERS: &str = "memory.faults.performance";
    pub const SOURCE: &str = "SystemPerformanceInformation";
    pub const PAGE_FAULTS: &str = "PageFaultCount";
    pub const PAGE_READS: &str = "PageReadIoCount";
    pub const ADDITIONAL: [&str; 4] = [PAGE_FAULTS, PAGE_READS, "PageReadCount", "CacheFaults"];
}

use names::{ADDITIONAL, COUNTERS, PAGE_FAULTS, PAGE_READS, SOURCE};

impl Totals {
    fn of(&self, name: &str) -> Result<u64, Failure> {
        super::available::field(&self.0, &format!("{name} "))
            .ok_or_else(|| Failure::Unsupported(format!("the system keeps no {name} in {SOURCE}")))
    }

    /// How much a counter moved since `before`.
    fn moved(&self, before: &Self, name: &str) -> Result<u64, Failure> {
        let (from, to) = (before.of(name)?, self.of(name)?);
        to.checked_sub(from).ok_or_else(|| {
            Failure::Invalid(format!("the counter {name} went back from {from} to {to}"))
        })
    }

    fn all_moved(&self, before: &Self, elapsed_ns: f64) -> serde_json::Value {
        let counts = ADDITIONAL.map(|name| (name, self.moved(before, name).ok()));
        let mut all: serde_json::Value = counts
            .into_iter()
            .map(|(name, count)| (name.to_owned(), json!(count)))
            .collect::<serde_json::Map<_, _>>()
            .into();
        all["elapsed_ns"] = json!(elapsed_ns);
        all
    }
}

#[cfg(target_os = "linux")]
fn totals() -> Result<Totals, Failure> {
    std::fs::read_to_string("/proc/vmstat")
        .map(Totals)
        .map_err(|e| Failure::Unsupported(format!("/proc/vmstat: {e}")))
}

#[cfg(windows)]
fn totals() -> Result<Totals, Failure> {
    let paging =
        pentathlon_os::machine::paging().map_err(|e| Failure::Unsupported(e.to_string()))?;
    Ok(Totals(format!(
        "{PAGE_FAULTS} {}\n{PAGE_READS} {}\nPageReadCount {}\nCacheFaults {}\n",
        paging.faults, paging.read_requests, paging.pages_read, paging.cache_faults
    )))
}

#[cfg(not(any(target_os = "linux", windows)))]
fn totals() -> Result<Totals, Failure> {
    Err(Failure::Unsupported(
        "the system's page faults are read on Linux and Windows only".into(),
    ))
}

/// Whether the system counts at all.
#[cfg(not(windows))]
fn alive() -> Result<(), Failure> {
    totals().map(|_| ())
}

/// Whether the system counts at all: Wine has the call, and constants behind it.
#[cfg(windows)]
fn alive() -> Result<(), Failure> {
    const BYTES: usize = 64 * 4096;
    let before = totals()?;
    Region::reserve(BYTES, Pages::Default)
        .and_then(|mut pages| pages.touch(BYTES))
        .map_err(|e| Failure::system("taking new pages", &e))?;
    if totals()?.moved(&before, PAGE_FAULTS)? == 0 {
        return Err(Failure::Unsupported(
            "the system's count of page faults stays where it is when new pages are touched".into(),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planted(text: &str) -> Totals {
        Totals(text.into())
    }

    #[test]
    fn what_moved_is_the_difference_of_the_named_counter() {
        let before = planted("pgfault 100\npgmajfault 7\npgfault_x 1\n");
        let after = planted("pgfault 350\npgmajfault 7\npgfault_x 900\n");
        assert_eq!(after.moved(&before, "pgfault"), Ok(250));
        assert_eq!(after.moved(&before, "pgmajfault"), Ok(0), "zero is a value");
        let all = after.all_moved(&before, 5.0);
        assert_eq!(all["pgfault"], 250);
        assert!(all["pgpgin"].is_null(), "{all}");
    }

    #[test]
    fn a_counter_that_is_missing_or_runs_backwards_is_no_value() {
        let (low, high) = (planted("pgfault 5\n"), planted("pgfault 9\n"));
        assert!(matches!(
            low.moved(&high, "pgfault"),
            Err(Failure::Invalid(_))
        ));
        assert!(matches!(
            high.moved(&low, "pgmajfault"),
            Err(Failure::Unsupported(_))
        ));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn new_pages_are_counted_by_the_system() {
        let Ok(before) = totals() else {
            eprintln!("skipped: no /proc/vmstat here");
            return;
        };
        pentathlon_os::pages::touch_new(64, 4096).unwrap();
        let moved = totals().unwrap().moved(&before, "pgfault").unwrap();
        assert!(moved >= 1, "{moved}");
    }
}
