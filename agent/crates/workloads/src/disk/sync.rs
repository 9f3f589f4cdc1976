//! `disk.sync`: how long the system takes to say that written data are on the device.

use super::content::Content;
use super::file::{system, verify_blocks, MAKE};
use super::workdir::Workdir;
use super::{entry, latency};
use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{Context, Failure, Outcome, Reading};
use pentathlon_os::disk::open;
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;
use std::fs::File;
use std::path::Path;

pub struct Sync;

const CALLS: [&str; 2] = ["fsync", "fdatasync"];
const PATTERNS: [&str; 2] = ["append", "overwrite"];
const LATENCY: catalog::Histogram = latency::histogram("Time of one call");

impl pentathlon_harness::Workload for Sync {
    fn describe(&self) -> catalog::Workload {
        let mut metrics = vec![Metric::higher(
            "rate",
            "Writes made durable per second",
            "1/s",
        )];
        metrics.extend(latency::metrics());
        catalog::Workload {
            id: "disk.sync",
            title: "Latency of fsync and fdatasync",
            summary: "A block is written to a file and made durable, again and again; the time of \
                      each fsync or fdatasync is one value of a histogram, the rate counts write \
                      and call together.",
            source: "beyond the papers; fsync(2)",
            parameters: vec![
                Parameter::integer("block_bytes", 4096)
                    .unit("B")
                    .limits(512.0, 67_108_864.0)
                    .described("bytes written before each call"),
                Parameter::integer("calls", 50)
                    .limits(1.0, 1e6)
                    .described("calls in one round"),
                Parameter::texts_of("call", &CALLS).described("the calls to measure"),
                Parameter::texts_of("pattern", &PATTERNS).described(
                    "append: each block makes the file longer, so that the call must write the \
                     file's size too; overwrite: blocks that exist",
                ),
                entry::directory(),
            ],
            factors: vec![
                Factor::category("call", "Call"),
                Factor::category("pattern", "Pattern"),
            ],
            metrics,
            checksum: "seed and bytes written, after the file had been compared with them",
            semantics: Semantics {
                linux: "pwrite64(2), then fsync(2) or fdatasync(2); whether the device's own \
                        cache is emptied is up to the file system and the device",
                windows: "WriteFile, then FlushFileBuffers for both calls",
            },
        }
    }

    fn switches(&self) -> bool {
        true
    }

    fn histograms(&self) -> Vec<catalog::Histogram> {
        vec![LATENCY]
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let block = context.parameters.integer("block_bytes") as usize;
        let calls = context.parameters.integer("calls");
        let workdir = Workdir::of(context)?;
        workdir.require(block as u64 * calls)?;
        let path = workdir.file("file");
        let mut content = Content::new(context.seed, block);
        let parameters = context.parameters.clone();
        for call in parameters.texts("call") {
            for pattern in parameters.texts("pattern") {
                let case = Case::new().with("call", call).with("pattern", pattern);
                let mut generation = 0;
                context.rounds(&case, |clock, _| {
                    generation += 1;
                    let plan = Plan {
                        block,
                        calls,
                        data_only: call == "fdatasync",
                        append: pattern == "append",
                        generation,
                    };
                    round(&path, &mut content, clock, plan, &case)
                });
                std::fs::remove_file(&path).ok();
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
struct Plan {
    block: usize,
    calls: u64,
    data_only: bool,
    append: bool,
    generation: u64,
}

fn round(
    path: &Path,
    content: &mut Content,
    clock: &Clock,
    plan: Plan,
    case: &Case,
) -> Result<Vec<Outcome>, Failure> {
    let file = open::open(path, MAKE).map_err(|e| system("making the file", &e))?;
    let length = plan.block as u64 * plan.calls;
    if plan.append {
        file.set_len(0)
            .map_err(|e| system("emptying the file", &e))?;
    } else {
        write(&file, content, plan, 0)?;
    }
    file.sync_all()
        .map_err(|e| system("writing the file to the device", &e))?;
    let mut latencies = Vec::with_capacity(plan.calls as usize);
    let start = clock.ticks();
    for n in 0..plan.calls {
        let position = n * plan.block as u64;
        let bytes = content.fresh(position, plan.block, plan.generation);
        let written =
            open::write_at(&file, bytes, position).map_err(|e| system("writing a block", &e))?;
        if written != plan.block {
            return Err(super::file::short("written", written, plan.block));
        }
        let from = clock.ticks();
        let result = if plan.data_only {
            file.sync_data()
        } else {
            file.sync_all()
        };
        result.map_err(|e| system("making the file durable", &e))?;
        latencies.push(clock.elapsed_ns(from, clock.ticks()) as u64);
    }
    let elapsed_ns = clock.elapsed_ns(start, clock.ticks());
    content.rewritten(length, plan.generation);
    let places = (0..plan.calls).map(|n| n * plan.block as u64);
    verify_blocks(&file, content, plan.block, plan.generation, places)?;
    let checksum = content.checksum(length);
    let rate = Reading {
        metric: "rate",
        case: case.clone(),
        value: plan.calls as f64 / elapsed_ns * 1e9,
        operations: plan.calls,
        elapsed_ns,
        checksum,
    };
    Ok(latency::outcomes(
        rate,
        LATENCY,
        latencies.into_iter().collect(),
    ))
}

fn write(file: &File, content: &mut Content, plan: Plan, generation: u64) -> Result<(), Failure> {
    for n in 0..plan.calls {
        let position = n * plan.block as u64;
        open::write_at(
            file,
            content.fresh(position, plan.block, generation),
            position,
        )
        .map_err(|e| system("writing the file", &e))?;
    }
    Ok(())
}
