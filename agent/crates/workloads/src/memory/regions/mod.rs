//! `memory.regions`: write, read, write over a block of a growing size: cache, memory and, only if
//! requested and inside a control group, swap.

mod group;
mod passes;

use super::available;
use super::kernels;
use group::Group;
use pentathlon_harness::measure::{Context, Failure, Reading};
use pentathlon_os::region::{Pages, Region};
use pentathlon_protocol::catalog::{self, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;

pub struct Regions;

impl pentathlon_harness::Workload for Regions {
    fn describe(&self) -> catalog::Workload {
        let metric = |id, title| Metric::higher(id, title, "MB/s");
        let bytes = |name, default: u64, minimum: f64, description| {
            Parameter::integer(name, default)
                .unit("B")
                .limits(minimum, (1u64 << 44) as f64)
                .described(description)
        };
        catalog::Workload {
            id: "memory.regions",
            title: "Memory regions",
            summary: "Writes a fresh block, then reads it, then writes it again, for sizes from \
                      the first cache to beyond the memory: only the last two are timed.",
            source: "venkata2003 §3.1 and §7.1, Fig. 1, 2 and 33",
            parameters: vec![
                bytes(
                    "smallest_bytes",
                    1024,
                    1024.0,
                    "smallest size of the block; the others are this times powers of two",
                ),
                bytes(
                    "largest_bytes",
                    1 << 30,
                    1024.0,
                    "cap of the sizes; without a cap that bites they end at twice the memory",
                ),
                Parameter::integer("steps_per_octave", 1)
                    .limits(1.0, 8.0)
                    .described("sizes per doubling, evenly apart on a logarithmic scale"),
                Parameter::boolean("swap", false).described(
                    "whether sizes above the memory are measured: inside a control group of its \
                     own, whose limit stands for the memory",
                ),
                bytes(
                    "swap_limit_bytes",
                    256 << 20,
                    (32u64 << 20) as f64,
                    "with swap: the limit of the control group; sizes go up to twice of it",
                ),
            ],
            factors: vec![super::sizes::factor()],
            metrics: vec![
                metric("write", "Write bandwidth"),
                metric("read", "Read bandwidth"),
            ],
            checksum: "read: exclusive or of the block's 64-bit words; write: wrapping sum of the \
                       words, less the number of the last pass in each",
            semantics: Semantics {
                linux: "a fresh private anonymous mapping in every round; swap only in a memory \
                        control group (version 1 or 2) that is made and removed",
                windows: "a fresh piece of committed private memory in every round; swap: \
                          unsupported",
            },
        }
    }

    fn timeout_s(&self) -> Option<f64> {
        Some(600.0)
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let parameters = context.parameters.clone();
        let group = if parameters.boolean("swap") {
            let limit = parameters.integer("swap_limit_bytes");
            Some(Group::enter(limit, &context.scratch)?)
        } else {
            None
        };
        let memory = match &group {
            Some(group) => Some(group.limit()),
            None => available::total(),
        };
        let smallest = parameters.integer("smallest_bytes");
        let cap = parameters.integer("largest_bytes");
        let largest = memory.map_or(cap, |memory| cap.min(2 * memory));
        context.log(format!(
            "memory.regions: {} B is the cap, {}; the instructions are {}",
            largest,
            match (memory, &group) {
                (Some(memory), Some(_)) => format!("{memory} B the limit of the control group"),
                (Some(memory), None) => format!("{memory} B the memory"),
                (None, _) => "the system does not report its memory".into(),
            },
            kernels::vector().name
        ));
        for bytes in sizes(smallest, largest, parameters.integer("steps_per_octave")) {
            let case = Case::new().with("block_bytes", bytes as u64);
            context.rounds(&case, |clock, sample_ns| {
                if group.is_none() {
                    fits(bytes)?;
                }
                let region = Region::reserve(bytes, Pages::Default);
                let region = region.and_then(|mut region| {
                    touch(&mut region, bytes, group.is_some()).map(|()| region)
                });
                let mut region = region.map_err(|error| {
                    Failure::Unsupported(format!("the system has no {bytes} B of memory: {error}"))
                })?;
                let timed = passes::write_read_write(region.words(), clock, sample_ns)?;
                let reading = |metric, timed: &passes::Timed| Reading {
                    metric,
                    case: case.clone(),
                    value: timed.passes as f64 * bytes as f64 / timed.elapsed_ns * 1e3,
                    operations: timed.passes,
                    elapsed_ns: timed.elapsed_ns,
                    checksum: timed.checksum,
                };
                Ok(vec![
                    reading("read", &timed.read),
                    reading("write", &timed.write),
                ])
            });
        }
        drop(group);
        Ok(())
    }
}

/// Makes the pages exist; one by one where they may be more than the control group allows.
fn touch(region: &mut Region, bytes: usize, beyond: bool) -> std::io::Result<()> {
    #[cfg(unix)]
    if beyond {
        region.touch_each(bytes);
        return Ok(());
    }
    let _ = beyond;
    region.touch(bytes).map(|_| ())
}

/// Whether the system can spare so much without swapping.
fn fits(bytes: usize) -> Result<(), Failure> {
    match available::bytes().filter(|&spare| bytes as u64 > spare) {
        Some(spare) => Err(Failure::Unsupported(format!(
            "the block has {bytes} B, the system can spare {spare} B; larger blocks are measured \
             with swap = true, in a control group"
        ))),
        None => Ok(()),
    }
}

/// `smallest` and its multiples by 2^(1/steps) up to `largest`, in whole lines, each once.
fn sizes(smallest: u64, largest: u64, steps: u64) -> Vec<usize> {
    let exact = |step: u64| {
        let octave = smallest << (step / steps);
        octave as f64 * ((step % steps) as f64 / steps as f64).exp2()
    };
    let requested: Vec<u64> = (0..)
        .map(exact)
        .take_while(|&bytes| bytes <= largest as f64)
        .map(|bytes| bytes as u64)
        .collect();
    super::sizes::rounded(&requested)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_double_up_to_the_cap() {
        assert_eq!(sizes(1024, 4096, 1), [1024, 2048, 4096]);
        assert_eq!(sizes(1024, 4095, 1), [1024, 2048]);
        assert_eq!(sizes(1024, 512, 1), Vec::<usize>::new());
        let fine = sizes(1024, 4096, 4);
        assert_eq!(fine.len(), 9);
        assert_eq!((fine[0], fine[4], fine[8]), (1024, 2048, 4096));
        assert!(fine.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(sizes(1024, 1 << 30, 1).len(), 21);
    }

    #[test]
    fn a_block_beyond_the_memory_names_swap() {
        let Some(_) = available::bytes() else { return };
        assert_eq!(fits(4096), Ok(()));
        let refusal = fits(1 << 45);
        assert!(
            matches!(&refusal, Err(Failure::Unsupported(text)) if text.contains("swap = true")),
            "{refusal:?}"
        );
    }
}
