//! `memory.read`, `memory.write`, `memory.copy`: sequential bandwidth over the block size.

pub(super) mod bodies;

use super::arena::Arena;
use super::kernels::{self, Kernels};
use super::{pattern, sizes, smaps};
use bodies::{Copy, Read, Write};
use pentathlon_harness::measure::{Context, Failure, Quantity};
use pentathlon_os::region::Pages;
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;

pub struct Bandwidth {
    id: &'static str,
    title: &'static str,
    summary: &'static str,
    metric: &'static str,
    checksum: &'static str,
    source: &'static str,
    access: Access,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
    Copy,
}

pub const READ: Bandwidth = Bandwidth {
    id: "memory.read",
    title: "Sequential read",
    summary: "Loads every byte of a block, from its first to its last, again and again.",
    metric: "Read bandwidth",
    checksum: "exclusive or of the block's 64-bit words, as one pass loads them",
    source: "venkata2003 §3.1",
    access: Access::Read,
};

pub const WRITE: Bandwidth = Bandwidth {
    id: "memory.write",
    title: "Sequential write",
    summary: "Stores every byte of a block with ordinary stores; every pass stores another value.",
    metric: "Write bandwidth",
    checksum: "wrapping sum of the block's 64-bit words, less the number of the last pass in each",
    source: "venkata2003 §3.1",
    access: Access::Write,
};

pub const COPY: Bandwidth = Bandwidth {
    id: "memory.copy",
    title: "Sequential copy",
    summary: "Copies a block to another with ordinary loads and stores; bytes copied count once.",
    metric: "Copy bandwidth",
    checksum: "exclusive or of the copy's 64-bit words",
    source: "martinovic2012 §4.5, Tab. 1, 3 and 10 (Everest memory copy); venkata2003 §3.1, whose \
             blocks are read and written but not copied",
    access: Access::Copy,
};

/// The factor's values: the two that exist everywhere, and instruction sets by name.
const VARIANTS: [&str; 6] = ["vector", "scalar", "avx512", "avx2", "sse2", "neon"];

impl pentathlon_harness::Workload for Bandwidth {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: self.id,
            title: self.title,
            summary: self.summary,
            source: self.source,
            parameters: vec![
                sizes::parameter(),
                Parameter::texts("variants", &["vector", "scalar"])
                    .choices(&VARIANTS)
                    .described(
                        "vector: the widest vector instructions that the CPU and the system offer, \
                         named in the log; scalar: 64-bit loads and stores; or one instruction set \
                         of x86-64, or of 64-bit ARM (neon)",
                    ),
            ],
            factors: vec![sizes::factor(), Factor::category("variant", "instructions")],
            metrics: vec![Metric::higher("bandwidth", self.metric, "MB/s")],
            checksum: self.checksum,
            semantics: Semantics {
                linux: "private anonymous memory with the pages that the system gives by default, \
                        touched before anything is timed",
                windows: "committed private memory, touched before anything is timed",
            },
        }
    }

    fn buffers(&self) -> u8 {
        1 + u8::from(self.access == Access::Copy)
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let sizes = sizes::rounded(&context.parameters.integers("block_bytes"));
        let variants: Vec<String> = sizes::distinct(&context.parameters.texts("variants"))
            .into_iter()
            .map(Into::into)
            .collect();
        let mut source = Arena::new(&sizes, Pages::Default)?;
        let mut target = match self.access {
            Access::Copy => Some(Arena::new(&sizes, Pages::Default)?),
            Access::Read | Access::Write => None,
        };
        for variant in &variants {
            if let Ok(kernels) = kernels(variant) {
                context.log(format!("{}: {variant} is {}", self.id, kernels.name));
            }
        }
        for &bytes in &sizes {
            let blocks = blocks(&mut source, target.as_mut(), bytes);
            let (block, copy) = match blocks {
                Ok(blocks) => blocks,
                Err(failure) => {
                    for variant in &variants {
                        context.fail(Some(&case(bytes, variant)), &failure);
                    }
                    continue;
                }
            };
            let checksum = pattern::fill(block);
            for variant in &variants {
                let case = case(bytes, variant);
                match kernels(variant) {
                    Ok(kernels) => self.measure(context, &case, kernels, (block, checksum), copy),
                    Err(reason) => context.fail(Some(&case), &Failure::Unsupported(reason)),
                }
            }
        }
        if let Some(huge) = smaps::huge_bytes(&source.touched()) {
            let all = source.touched().len();
            context.log(format!(
                "{}: huge pages back {huge} of {all} B of the block",
                self.id
            ));
        }
        Ok(())
    }
}

impl Bandwidth {
    fn measure(
        &self,
        context: &mut Context<'_>,
        case: &Case,
        kernels: Kernels,
        (block, checksum): (&mut [u64], u64),
        copy: &mut [u64],
    ) {
        let quantity = Quantity::MegaPerSecond {
            units: size_of_val(block) as f64,
        };
        let last = match self.access {
            Access::Read => {
                context.measure(
                    "bandwidth",
                    case,
                    quantity,
                    &mut Read::new(kernels, block, checksum),
                );
                Ok(())
            }
            Access::Write => {
                let mut body = Write::new(kernels, block);
                context.measure("bandwidth", case, quantity, &mut body);
                body.check_all()
            }
            Access::Copy => {
                let mut body = Copy::new(kernels, block, copy, checksum);
                context.measure("bandwidth", case, quantity, &mut body);
                body.check_all()
            }
        };
        if let Err(failure) = last {
            context.fail(Some(case), &failure);
        }
    }
}

fn case(bytes: usize, variant: &str) -> Case {
    Case::new()
        .with("block_bytes", bytes as u64)
        .with("variant", variant)
}

fn kernels(variant: &str) -> Result<Kernels, String> {
    match variant {
        "vector" => Ok(kernels::vector()),
        "scalar" => Ok(kernels::scalar()),
        name => kernels::named(name),
    }
}

/// The block, and the block to copy to (empty where nothing is copied).
fn blocks<'a>(
    source: &'a mut Arena,
    target: Option<&'a mut Arena>,
    bytes: usize,
) -> Result<(&'a mut [u64], &'a mut [u64]), Failure> {
    let copy = match target {
        // Both must fit: the source's pages are taken after the target's.
        Some(target) => target.block(bytes, source.missing(bytes))?,
        None => &mut [],
    };
    Ok((source.block(bytes, 0)?, copy))
}
