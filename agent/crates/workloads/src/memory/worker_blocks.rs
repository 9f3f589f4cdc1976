//! One block, or two to copy between, for each of one or all CPUs, and what is measured on them.

use super::arena::Arena;
use super::available;
use super::bandwidth::bodies::{Copy, Read, Write};
use super::kernels::{self, random, Kernels};
use super::{pattern, worker_pool};
use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{Body, Context, Failure, Reading};
use pentathlon_os::region::Pages;
use pentathlon_protocol::catalog::{Factor, Parameter};
use pentathlon_protocol::Case;

/// What is done with the blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
    Copy,
    /// Loads of random words that do not wait for each other.
    Random,
}

impl Access {
    /// The metric's id.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Copy => "copy",
            Self::Random => "random",
        }
    }
}

pub fn parameter() -> Parameter {
    Parameter::texts_of("threads", &["one", "all"]).described(
        "one: a single thread; all: a thread on each CPU that the agent may use, with blocks of \
         its own; rates are added up, and of latencies the mean is taken; unsupported beside one \
         where there is a single CPU",
    )
}

pub fn factor() -> Factor {
    Factor::category("threads", "threads")
}

/// Why `all` is left out.
const ALIKE: &str =
    "the agent may use one CPU, so all threads are the one thread that is measured \
                     as threads=one";

/// One thread's memory.
struct Place {
    cpu: Option<usize>,
    source: Arena,
    target: Arena,
    checksum: u64,
}

/// The memory of all threads: blocks of one size, filled with the pattern.
pub struct WorkerBlocks {
    places: Vec<Place>,
    bytes: usize,
    kernels: Kernels,
    seed: u64,
}

impl WorkerBlocks {
    /// How many threads "one" or "all" are.
    pub fn size(threads: &str) -> Result<usize, Failure> {
        Ok(if threads == "all" {
            worker_pool::cpus()?.len()
        } else {
            1
        })
    }

    /// Refuses all threads where they are the one thread that is measured anyway.
    ///
    /// # Errors
    /// `unsupported`: both are requested, and the agent may use a single CPU.
    pub fn apart(threads: &str, requested: &[&str]) -> Result<(), Failure> {
        match threads == "all" && requested.contains(&"one") && Self::size(threads)? == 1 {
            true => Err(Failure::Unsupported(ALIKE.into())),
            false => Ok(()),
        }
    }

    /// Takes two blocks of `bytes` (whole lines) per thread from the system, each touched first by
    /// a thread on its own CPU.
    pub fn new(threads: &str, bytes: usize, seed: u64) -> Result<Self, Failure> {
        let cpus = match threads {
            "all" => worker_pool::cpus()?,
            // Not bound: the placement of the session holds.
            _ => vec![None],
        };
        let need = (2 * bytes as u64).saturating_mul(cpus.len() as u64);
        if let Some(available) = available::bytes().filter(|&available| need > available) {
            return Err(Failure::Unsupported(format!(
                "{} threads with two blocks of {bytes} B need {need} B, the system can spare \
                 {available} B",
                cpus.len()
            )));
        }
        let places: Result<Vec<Place>, Failure> = std::thread::scope(|scope| {
            let threads: Vec<_> = cpus
                .into_iter()
                .map(|cpu| scope.spawn(move || place(cpu, bytes)))
                .collect();
            worker_pool::joined(threads)
        });
        Ok(Self {
            places: places?,
            bytes,
            kernels: kernels::vector(),
            seed,
        })
    }

    /// Measures one access: every round is one window, and its value the sum of the threads' rates
    /// over the first `bytes` of the blocks, in MB/s, or in millions of accesses per second.
    pub fn measure(
        &mut self,
        context: &mut Context<'_>,
        case: &Case,
        access: Access,
        bytes: usize,
    ) -> Result<(), Failure> {
        let mut members = self.members(access, bytes)?;
        let units = match access {
            Access::Random => random::LANES,
            Access::Read | Access::Write | Access::Copy => bytes,
        } as f64;
        context.rounds(case, |clock, sample_ns| {
            let shares = worker_pool::window(&mut members, sample_ns, clock)?;
            let rate =
                |share: &worker_pool::Share| share.operations as f64 * units / share.elapsed_ns;
            Ok(vec![Reading {
                metric: access.name(),
                case: case.clone(),
                value: shares.iter().map(rate).sum::<f64>() * 1e3,
                operations: shares.iter().map(|share| share.operations).sum(),
                elapsed_ns: shares.iter().map(|s| s.elapsed_ns).fold(0.0, f64::max),
                checksum: worker_pool::agreed(&shares)?,
            }])
        });
        Ok(())
    }

    /// Does each access for `window_ns` in every thread, without reporting it; returns the exclusive
    /// or of the checksums.
    pub fn unreported(
        &mut self,
        accesses: &[Access],
        window_ns: f64,
        clock: &Clock,
    ) -> Result<u64, Failure> {
        let bytes = self.bytes;
        accesses.iter().try_fold(0, |all, &access| {
            let mut members = self.members(access, bytes)?;
            let shares = worker_pool::window(&mut members, window_ns, clock)?;
            Ok(all ^ shares[0].checksum)
        })
    }

    fn members(
        &mut self,
        access: Access,
        bytes: usize,
    ) -> Result<Vec<worker_pool::Member<'_>>, Failure> {
        assert!(bytes <= self.bytes, "the blocks have so many bytes");
        let (kernels, seed, whole) = (self.kernels, self.seed, self.bytes);
        self.places
            .iter_mut()
            .enumerate()
            .map(|(number, place)| {
                let source = place.source.block(bytes, 0)?;
                let checksum = if bytes == whole {
                    place.checksum
                } else {
                    pattern::of(source.len())
                };
                let body: Box<dyn Body + Send + '_> = match access {
                    Access::Read => Box::new(Read::new(kernels, source, checksum)),
                    // The source keeps its pattern for the other accesses.
                    Access::Write => Box::new(Write::new(kernels, place.target.block(bytes, 0)?)),
                    Access::Copy => {
                        let target = place.target.block(bytes, 0)?;
                        Box::new(Copy::new(kernels, source, target, checksum))
                    }
                    Access::Random => {
                        let seed = seed ^ (number as u64) << 32;
                        Box::new(Random::new(source, seed, checksum))
                    }
                };
                Ok(worker_pool::Member {
                    cpu: place.cpu,
                    body,
                })
            })
            .collect()
    }
}

fn place(cpu: Option<usize>, bytes: usize) -> Result<Place, Failure> {
    worker_pool::bind(cpu)?;
    let mut source = Arena::new(&[bytes], Pages::Default)?;
    let mut target = Arena::new(&[bytes], Pages::Default)?;
    target.block(bytes, 0)?;
    let checksum = pattern::fill(source.block(bytes, 0)?);
    Ok(Place {
        cpu,
        source,
        target,
        checksum,
    })
}

/// Random loads from a block that holds the pattern; an operation is a turn of all generators.
struct Random<'a> {
    block: &'a [u64],
    checksum: u64,
    /// Where the generators stand, and where they stood when the last check ended.
    state: random::State,
    checked: random::State,
    turns: u64,
    sum: u64,
}

impl<'a> Random<'a> {
    fn new(block: &'a [u64], seed: u64, checksum: u64) -> Self {
        let state = random::start(seed);
        Self {
            block,
            checksum,
            state,
            checked: state,
            turns: 0,
            sum: 0,
        }
    }
}

impl Body for Random<'_> {
    fn batch(&mut self, operations: u64) -> u64 {
        let sum = random::load(self.block, operations, &mut self.state);
        self.sum = self.sum.wrapping_add(sum);
        self.turns += operations;
        sum
    }

    fn verify(&mut self, _operations: u64, _returned: u64) -> Result<u64, Failure> {
        let expected = random::expected(self.block.len(), self.turns, &mut self.checked);
        let (sum, turns) = (self.sum, self.turns * random::LANES as u64);
        (self.sum, self.turns) = (0, 0);
        if sum == expected && self.state == self.checked {
            Ok(self.checksum)
        } else {
            Err(Failure::Invalid(format!(
                "{turns} random loads add up to {sum:#x}, not to {expected:#x}: not every word was \
                 loaded"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_harness::clock::calibrate;

    const ALL: [Access; 4] = [Access::Read, Access::Write, Access::Copy, Access::Random];

    #[test]
    fn every_access_is_proved_with_one_and_with_all_threads() {
        let clock = Clock::of(&calibrate());
        for threads in ["one", "all"] {
            let mut worker_blocks = WorkerBlocks::new(threads, 8192, 3).unwrap();
            assert_eq!(
                worker_blocks.places.len(),
                WorkerBlocks::size(threads).unwrap()
            );
            for access in ALL {
                let once = worker_blocks.unreported(&[access], 1e5, &clock).unwrap();
                let expected = match access {
                    Access::Write => 1024u64.wrapping_mul(0x5bd1_e995_0000_0000),
                    _ => (0..1024).fold(0, |all, index| all ^ pattern::word(index)),
                };
                assert_eq!(once, expected, "{access:?}");
            }
        }
    }

    #[test]
    fn a_spoilt_word_is_found_by_reading_and_by_random_loads() {
        let clock = Clock::of(&calibrate());
        let mut worker_blocks = WorkerBlocks::new("one", 4096, 3).unwrap();
        worker_blocks.places[0]
            .source
            .block(4096, 0)
            .unwrap()
            .fill(1);
        for access in [Access::Read, Access::Copy, Access::Random] {
            let outcome = worker_blocks.unreported(&[access], 1e5, &clock);
            assert!(matches!(outcome, Err(Failure::Invalid(_))), "{access:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn all_threads_are_left_out_where_they_are_the_one_that_is_measured() {
        let before = pentathlon_os::placement::cpus().unwrap();
        pentathlon_os::placement::set_cpus(&before[..1]).unwrap();
        let alike = WorkerBlocks::apart("all", &["one", "all"]);
        let alone = WorkerBlocks::apart("all", &["all"]);
        pentathlon_os::placement::set_cpus(&before).unwrap();
        assert!(matches!(&alike, Err(Failure::Unsupported(why)) if why.contains("one CPU")));
        assert!(alone.is_ok() && WorkerBlocks::apart("one", &["one", "all"]).is_ok());
        if before.len() > 1 {
            assert!(WorkerBlocks::apart("all", &["one", "all"]).is_ok());
        }
    }

    #[test]
    fn too_much_for_all_threads_is_unsupported() {
        let refused = WorkerBlocks::new("all", 1 << 45, 0).err();
        assert!(
            matches!(refused, Some(Failure::Unsupported(_))),
            "{refused:?}"
        );
    }
}
