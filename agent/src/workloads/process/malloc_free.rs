//! `process.malloc_free`: a block from the C library's heap and back.

use super::calls::{nothing_left, Calls};
use super::entry;
use crate::catalog::{self, Semantics};
use crate::measure::{Context, Failure};
use crate::protocol::Case;
use crate::sys::heap::Block;
use std::hint::black_box;

pub struct MallocFree;

impl crate::workloads::Workload for MallocFree {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.malloc_free",
            area: entry::AREA,
            title: "malloc and free",
            summary: "A block is allocated, its first and last byte are written and read, and it \
                      is freed.",
            source: entry::CALLS,
            parameters: vec![entry::integers(
                "bytes",
                &[4],
                Some("B"),
                (1, 1 << 30),
                "sizes of the block; the paper's is 4",
            )],
            factors: vec![entry::bytes("bytes", "block size")],
            indicators: entry::time("Time per malloc and free"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux: "malloc(3) and free(3) of the C library that the agent was linked with. A \
                        static agent brings its own (glibc), so this compares processors and, for \
                        blocks that come from the kernel, kernels: not the systems' C libraries",
                windows: "malloc and free of the C run-time library, over the process heap",
            },
            test_only: false,
        }
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        for bytes in context.parameters.integers("bytes") {
            let case = Case::new().with("bytes", bytes);
            let size = bytes as usize;
            let mut turn = 0_u8;
            let call = || {
                let Some(mut block) = Block::new(black_box(size)) else {
                    return Err(no_memory(size));
                };
                turn = turn.wrapping_add(1);
                Ok(block.holds(turn, !turn))
            };
            let mut body = Calls::new(call, nothing_left);
            context.measure("time", &case, entry::PER_CALL, &mut body);
        }
        Ok(())
    }
}

#[cold]
fn no_memory(bytes: usize) -> Failure {
    Failure::Failed(format!("malloc has no block of {bytes} bytes"))
}
