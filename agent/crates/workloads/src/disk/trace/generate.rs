//! Five traces made from a seed, each with the shares of reads and writes that Futuremark stated for
//! the trace of the same name in PCMark04 and PCMark05. Sizes, places and times are ours, because
//! the recorded traces were never published (docs/disk-traces.md has the table).

use super::format::{Operation, Step, Trace};
use pentathlon_harness::Random;

/// What a generated trace consists of.
#[derive(Debug, Clone, Copy)]
pub struct Profile {
    pub name: &'static str,
    /// Files that are there, and the least and the most bytes of one; their logarithms are even.
    pub files: usize,
    pub file_bytes: (u64, u64),
    pub requests: usize,
    /// Of the requests, in thousandths.
    pub writes: usize,
    /// Of the requests that go on where the last one of its kind ended, in thousandths.
    pub sequential: usize,
    /// Sizes of the requests and how often each is taken.
    pub sizes: &'static [(u64, usize)],
    pub write_to: WriteTo,
}

/// Where writes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteTo {
    /// To the end of a few files, as logs do.
    Logs,
    /// Over what is there, followed by a sync now and then, as documents are saved.
    Documents,
    /// To new files, from start to end.
    New,
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

pub const PROFILES: [Profile; 5] = [
    Profile {
        name: "start-up",
        files: 300,
        file_bytes: (16 * KIB, 2 * MIB),
        requests: 2000,
        writes: 100,
        sequential: 600,
        sizes: &[(4 * KIB, 4), (16 * KIB, 3), (32 * KIB, 2), (64 * KIB, 1)],
        write_to: WriteTo::Logs,
    },
    Profile {
        name: "application-load",
        files: 120,
        file_bytes: (32 * KIB, 4 * MIB),
        requests: 1500,
        writes: 170,
        sequential: 500,
        sizes: &[(4 * KIB, 5), (16 * KIB, 3), (32 * KIB, 1), (64 * KIB, 1)],
        write_to: WriteTo::Logs,
    },
    Profile {
        name: "general-usage",
        files: 100,
        file_bytes: (16 * KIB, 4 * MIB),
        requests: 1500,
        writes: 400,
        sequential: 400,
        sizes: &[(4 * KIB, 5), (8 * KIB, 2), (16 * KIB, 2), (64 * KIB, 1)],
        write_to: WriteTo::Documents,
    },
    Profile {
        name: "virus-scan",
        files: 700,
        file_bytes: (16 * KIB, MIB),
        requests: 3000,
        writes: 5,
        sequential: 1000,
        sizes: &[(64 * KIB, 1)],
        write_to: WriteTo::Logs,
    },
    Profile {
        name: "file-write",
        files: 0,
        file_bytes: (MIB, 16 * MIB),
        requests: 1000,
        writes: 1000,
        sequential: 1000,
        sizes: &[(64 * KIB, 1)],
        write_to: WriteTo::New,
    },
];

/// Files that a program of the trace keeps open at once.
const OPEN_AT_ONCE: usize = 16;
/// Writes to documents between two syncs.
const WRITES_BETWEEN_SYNCS: usize = 50;
/// Files that logs are written to.
const LOGS: usize = 4;
/// Mean of the time between two requests, in us; replay does not wait for it.
const THINK_US: usize = 2000;

/// The trace of a profile; equal seeds give equal traces.
pub fn generate(profile: &Profile, seed: u64) -> Trace {
    let name = profile.name.bytes().fold(seed, |seed, byte| {
        seed.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte)
    });
    let mut maker = Maker::new(profile, Random::new(name));
    maker.requests();
    maker.close_all();
    Trace {
        name: profile.name.into(),
        files: maker.initial,
        steps: maker.steps,
    }
}

struct Maker<'a> {
    profile: &'a Profile,
    random: Random,
    initial: Vec<Option<u64>>,
    sizes: Vec<u64>,
    steps: Vec<Step>,
    time_us: u64,
    /// Least recently used first.
    open: Vec<usize>,
    /// File and position where the last read, and the last write, ended.
    last_read: (usize, u64),
    last_write: (usize, u64),
    /// What the new file that is being written shall have.
    new_bytes: u64,
    writes: usize,
}

impl<'a> Maker<'a> {
    fn new(profile: &'a Profile, mut random: Random) -> Self {
        let sizes: Vec<u64> = (0..profile.files)
            .map(|_| size(profile.file_bytes, &mut random))
            .collect();
        Self {
            profile,
            initial: sizes.iter().copied().map(Some).collect(),
            sizes,
            random,
            steps: Vec::new(),
            time_us: 0,
            open: Vec::new(),
            last_read: (usize::MAX, 0),
            last_write: (usize::MAX, 0),
            new_bytes: 0,
            writes: 0,
        }
    }

    fn requests(&mut self) {
        // Exact shares: the kinds are dealt, not drawn.
        let writes = self.profile.requests * self.profile.writes / 1000;
        let mut kinds: Vec<bool> = (0..self.profile.requests).map(|n| n < writes).collect();
        for n in (1..kinds.len()).rev() {
            kinds.swap(n, self.random.below(n + 1));
        }
        for write in kinds {
            self.time_us += self.random.below(2 * THINK_US) as u64;
            let bytes = self.request_bytes();
            if write {
                self.write(bytes);
            } else {
                self.read(bytes);
            }
        }
    }

    fn request_bytes(&mut self) -> u64 {
        let total: usize = self.profile.sizes.iter().map(|(_, weight)| weight).sum();
        let mut ticket = self.random.below(total);
        for &(bytes, weight) in self.profile.sizes {
            if ticket < weight {
                return bytes;
            }
            ticket -= weight;
        }
        unreachable!("the ticket is below the sum of the weights")
    }

    fn goes_on(&mut self) -> bool {
        self.random.below(1000) < self.profile.sequential
    }

    fn read(&mut self, bytes: u64) {
        let (mut file, mut position) = self.last_read;
        let ended = file == usize::MAX || position >= self.sizes[file];
        if ended || !self.goes_on() {
            // Whole files are read in their order, single places of any.
            let whole = self.profile.sequential == 1000;
            file = match file {
                usize::MAX if whole => 0,
                _ if whole => (file + 1) % self.profile.files,
                _ => self.random.below(self.profile.files),
            };
            let pages = (self.sizes[file] / 4096).max(1) as usize;
            position = if whole {
                0
            } else {
                self.random.below(pages) as u64 * 4096
            };
        }
        let bytes = bytes.min(self.sizes[file] - position);
        self.ensure_open(file);
        self.push(file, Operation::Read { position, bytes });
        self.last_read = (file, position + bytes);
    }

    fn write(&mut self, bytes: u64) {
        let (file, position) = match self.profile.write_to {
            WriteTo::Logs => {
                let file = self.random.below(LOGS.min(self.profile.files));
                (file, self.sizes[file])
            }
            WriteTo::Documents => self.document(bytes),
            WriteTo::New => self.new_file(),
        };
        let bytes = match self.profile.write_to {
            WriteTo::New => bytes.min(self.new_bytes - position),
            _ => bytes,
        };
        self.ensure_open(file);
        self.push(file, Operation::Write { position, bytes });
        self.sizes[file] = self.sizes[file].max(position + bytes);
        self.last_write = (file, position + bytes);
        self.writes += 1;
        if self.profile.write_to == WriteTo::Documents
            && self.writes.is_multiple_of(WRITES_BETWEEN_SYNCS)
        {
            self.push(file, Operation::Sync);
        }
    }

    fn document(&mut self, bytes: u64) -> (usize, u64) {
        let (file, position) = self.last_write;
        if file != usize::MAX && position + bytes <= self.sizes[file] && self.goes_on() {
            return (file, position);
        }
        let file = self.random.below(self.profile.files);
        let pages = (self.sizes[file].saturating_sub(bytes) / 4096).max(1) as usize;
        (file, self.random.below(pages) as u64 * 4096)
    }

    fn new_file(&mut self) -> (usize, u64) {
        let (file, position) = self.last_write;
        if file != usize::MAX && position < self.new_bytes {
            return (file, position);
        }
        if file != usize::MAX {
            self.close(file);
        }
        self.new_bytes = size(self.profile.file_bytes, &mut self.random);
        self.initial.push(None);
        self.sizes.push(0);
        let file = self.sizes.len() - 1;
        self.push(file, Operation::Create);
        self.open.push(file);
        (file, 0)
    }

    fn ensure_open(&mut self, file: usize) {
        if let Some(place) = self.open.iter().position(|&open| open == file) {
            self.open.remove(place);
            self.open.push(file);
            return;
        }
        if self.open.len() == OPEN_AT_ONCE {
            self.close(self.open[0]);
        }
        self.push(file, Operation::Stat);
        self.push(file, Operation::Open);
        self.open.push(file);
    }

    fn close(&mut self, file: usize) {
        self.open.retain(|&open| open != file);
        self.push(file, Operation::Close);
    }

    fn close_all(&mut self) {
        while let Some(&file) = self.open.first() {
            self.close(file);
        }
    }

    fn push(&mut self, file: usize, operation: Operation) {
        self.steps.push(Step {
            time_us: self.time_us,
            file,
            operation,
        });
    }
}

/// A size between the limits, in whole pages; its logarithm is even.
fn size((least, most): (u64, u64), random: &mut Random) -> u64 {
    let doublings = (most / least).ilog2() as usize;
    let low = least << random.below(doublings.max(1));
    let pages = (low / 4096) as usize;
    low + random.below(pages.max(1)) as u64 * 4096
}

#[cfg(test)]
mod tests {
    use super::super::model::play;
    use super::*;
    use crate::disk::content::Content;

    #[test]
    fn every_trace_can_be_replayed_and_has_the_stated_shares() {
        let content = Content::new(1, 0);
        for profile in &PROFILES {
            let trace = generate(profile, 2005);
            let outcome = play(&trace, &content).expect(profile.name);
            let count = |kind: fn(&Operation) -> bool| {
                trace.steps.iter().filter(|s| kind(&s.operation)).count()
            };
            let reads = count(|o| matches!(o, Operation::Read { .. }));
            let writes = count(|o| matches!(o, Operation::Write { .. }));
            assert_eq!(reads + writes, profile.requests, "{}", profile.name);
            assert_eq!(writes, profile.requests * profile.writes / 1000);
            assert!(outcome.files.iter().all(|file| file.open == 0));
            let mib = (outcome.read_bytes + outcome.written_bytes) >> 20;
            assert!((10..=256).contains(&mib), "{}: {mib} MiB", profile.name);
            assert!(outcome.peak_bytes < 256 << 20, "{}", profile.name);
        }
    }

    #[test]
    fn equal_seeds_give_equal_traces_and_others_do_not() {
        let [first, ..] = &PROFILES;
        assert_eq!(generate(first, 1), generate(first, 1));
        assert_ne!(generate(first, 1), generate(first, 2));
    }

    #[test]
    fn a_generated_trace_survives_its_text() {
        let trace = generate(&PROFILES[2], 5);
        assert_eq!(Trace::parse(&trace.text()).unwrap(), trace);
    }
}
