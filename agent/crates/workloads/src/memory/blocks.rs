//! `memory.blocks`: the memory suite of PCMark05, with one thread and with all.

use super::worker_blocks::{self, Access, WorkerBlocks};
use super::{kernels, sizes};
use pentathlon_harness::measure::{Context, Failure};
use pentathlon_protocol::catalog::{self, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;
use serde_json::json;

pub struct Blocks;

/// The sizes of martinovic2012, tables 3 and 10.
pub const SIZES: [u64; 4] = [16 << 20, 8 << 20, 192 << 10, 4 << 10];

pub const ACCESSES: [Access; 4] = [Access::Read, Access::Write, Access::Copy, Access::Random];

/// The four sizes as the default of a parameter.
pub fn sizes_parameter() -> Parameter {
    Parameter {
        default: json!(SIZES),
        maximum: Some((16u64 << 30) as f64),
        ..sizes::parameter()
    }
}

/// Read, write and copy in MB/s.
pub fn bandwidths() -> Vec<Metric> {
    let titles = [
        ("read", "Read bandwidth"),
        ("write", "Write bandwidth"),
        ("copy", "Copy bandwidth"),
    ];
    let metric = |(id, title)| Metric::higher(id, title, "MB/s");
    titles.map(metric).into()
}

impl pentathlon_harness::Workload for Blocks {
    fn describe(&self) -> catalog::Workload {
        let mut metrics = bandwidths();
        metrics.push(Metric::higher("random", "Random loads", "Maccesses/s"));
        catalog::Workload {
            id: "memory.blocks",
            title: "Memory blocks",
            summary: "Reads, writes and copies blocks of a few sizes from end to end, and loads \
                      random words of them, with one thread and with one on every CPU.",
            source: "martinovic2012 §4.1, Tab. 1, 3 and 10 (PCMark05 memory suite)",
            parameters: vec![sizes_parameter(), worker_blocks::parameter()],
            factors: vec![sizes::factor(), worker_blocks::factor()],
            metrics,
            checksum: "read, copy, random: exclusive or of the block's 64-bit words; write: \
                       wrapping sum of the words, less the number of the last pass in each",
            semantics: Semantics {
                linux: "private anonymous memory with the pages that the system gives by default, \
                        touched before anything is timed; each of all threads is bound to its CPU",
                windows: "committed private memory, touched before anything is timed; the system \
                          places the threads",
            },
        }
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let sizes = sizes::rounded(&context.parameters.integers("block_bytes"));
        let parameters = context.parameters.clone();
        context.log(format!(
            "memory.blocks: the instructions are {}",
            kernels::vector().name
        ));
        let requested = parameters.texts("threads");
        for threads in sizes::distinct(&requested) {
            for &bytes in &sizes {
                let case = Case::new()
                    .with("block_bytes", bytes as u64)
                    .with("threads", threads);
                let made = WorkerBlocks::apart(threads, &requested)
                    .and_then(|()| WorkerBlocks::new(threads, bytes, context.seed));
                let mut worker_blocks = match made {
                    Ok(worker_blocks) => worker_blocks,
                    Err(failure) => {
                        context.fail(Some(&case), &failure);
                        continue;
                    }
                };
                for access in ACCESSES {
                    if let Err(failure) = worker_blocks.measure(context, &case, access, bytes) {
                        context.fail(Some(&case), &failure);
                    }
                }
            }
        }
        Ok(())
    }
}
