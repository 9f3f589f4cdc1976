//! `memory.levels`: main memory and each level of cache, with blocks that fit the machine.

pub mod caches;
mod choice;
mod together;

use super::arena::Arena;
use super::latency::{self, Walk};
use super::worker_blocks::{self, Access, WorkerBlocks};
use super::{blocks, kernels, sizes};
use caches::Cache;
use pentathlon_harness::measure::{Context, Failure, Quantity};
use pentathlon_os::region::Pages;
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;
use serde_json::json;

pub struct Levels;

const LEVELS: [&str; 4] = ["memory", "L1", "L2", "L3"];
const BANDWIDTHS: [Access; 3] = [Access::Read, Access::Write, Access::Copy];

impl pentathlon_harness::Workload for Levels {
    fn describe(&self) -> catalog::Workload {
        let mut metrics = blocks::bandwidths();
        metrics.push(Metric::lower("latency", "Latency", "ns"));
        catalog::Workload {
            id: "memory.levels",
            title: "Memory levels",
            summary: "Bandwidth and latency of main memory and of each cache, with blocks chosen \
                      from the sizes of this machine's caches.",
            source: "martinovic2012 §4.5, Tab. 1, 3, 4, 10 and 11 (Everest memory and cache suite)",
            parameters: vec![
                Parameter::texts_of("levels", &LEVELS).described("what to measure"),
                worker_blocks::parameter(),
                Parameter::integer("memory_bytes_most", 1u64 << 30)
                    .unit("B")
                    .limits((1u64 << 20) as f64, (1u64 << 40) as f64)
                    .described(
                        "most bytes with which main memory is measured, of all threads together; \
                         four times the last cache if that is less",
                    ),
            ],
            factors: vec![Factor::category("level", "level"), worker_blocks::factor()],
            metrics,
            checksum: "as of memory.read, memory.write, memory.copy and memory.latency for the \
                       block chosen: equal on systems that report equal caches",
            semantics: Semantics {
                linux: "sizes of the caches from /sys/devices/system/cpu, or CPUID where the \
                        system does not list them",
                windows: "sizes of the caches from CPUID",
            },
        }
    }

    fn timeout_s(&self) -> Option<f64> {
        Some(300.0)
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let (caches, origin) = caches::find().map_err(Failure::Unsupported)?;
        for cache in &caches {
            context.log(format!(
                "memory.levels: {origin} reports a cache of level {} with {} B for {} CPUs",
                cache.level, cache.bytes, cache.sharing
            ));
        }
        context.log(format!(
            "memory.levels: the instructions are {}",
            kernels::vector().name
        ));
        let parameters = context.parameters.clone();
        let requested = parameters.texts("threads");
        for threads in sizes::distinct(&requested) {
            for level in sizes::distinct(&parameters.texts("levels")) {
                let case = Case::new().with("level", level).with("threads", threads);
                let done = WorkerBlocks::apart(threads, &requested)
                    .and_then(|()| measure(context, &case, &caches, level, threads));
                if let Err(failure) = done {
                    context.fail(Some(&case), &failure);
                }
            }
        }
        Ok(())
    }
}

fn measure(
    context: &mut Context<'_>,
    case: &Case,
    caches: &[Cache],
    level: &str,
    threads: &str,
) -> Result<(), Failure> {
    let most = context.parameters.integer("memory_bytes_most") as usize;
    let count = WorkerBlocks::size(threads)?;
    let bytes = choice::bytes(level, caches, count, most).map_err(Failure::Unsupported)?;
    context.counter(
        format!("memory.levels.block_bytes[level={level},threads={threads}]"),
        json!({"read_write_latency": bytes, "copy_from_and_to": bytes / 2, "threads": count}),
    );
    let mut worker_blocks = WorkerBlocks::new(threads, bytes, context.seed)?;
    for access in BANDWIDTHS {
        // A copy has two blocks, which share the level.
        let bytes = match access {
            Access::Copy => bytes / 2,
            _ => bytes,
        };
        worker_blocks.measure(context, case, access, bytes)?;
    }
    drop(worker_blocks);
    if threads == "all" {
        return together::measure(context, case, bytes);
    }
    let mut arena = Arena::new(&[bytes], Pages::Default)?;
    let stride = sizes::LINE_BYTES;
    let chain = latency::build(&mut arena, bytes, stride, Pages::Default, context.seed)?;
    let mut body = Walk::along(chain);
    context.measure("latency", case, Quantity::NS, &mut body);
    Ok(())
}
