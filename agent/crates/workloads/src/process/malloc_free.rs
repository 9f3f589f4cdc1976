//! `process.malloc_free`: a block from the C library's heap and back.

use super::calls;
use super::entry;
use crate::opt_level;
use pentathlon_harness::measure::{Context, Failure};
use pentathlon_os::heap;
use pentathlon_protocol::catalog::{self, Factor, Parameter, Semantics};
use pentathlon_protocol::Case;

pub struct MallocFree;

impl pentathlon_harness::Workload for MallocFree {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.malloc_free",
            title: "malloc and free",
            summary: "A block is allocated, its first and last byte are written and read, and it \
                      is freed.",
            source: entry::CALLS,
            parameters: vec![
                Parameter::integers("bytes", &[4])
                    .unit("B")
                    .limits(1.0, (1u64 << 30) as f64)
                    .described("sizes of the block; the paper's is 4"),
                opt_level::parameter(&opt_level::OWN),
            ],
            factors: vec![Factor::bytes("bytes", "block size"), opt_level::factor()],
            metrics: entry::time("Time per malloc and free"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux: "malloc(3) and free(3) of the C library that the agent was linked with. A \
                        static agent brings its own (glibc), so this compares processors and, for \
                        blocks that come from the kernel, kernels: not the systems' C libraries",
                windows: "malloc and free of the C run-time library, over the process heap",
            },
        }
    }

    fn buffers(&self) -> u8 {
        1
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        for bytes in context.parameters.integers("bytes") {
            for level in opt_level::chosen(context) {
                let case = Case::new()
                    .with("bytes", bytes)
                    .with("opt_level", level.name);
                let size = bytes as usize;
                let calls = |operations| {
                    heap::malloc_free(level, operations, size).map_err(|_| no_memory(size))
                };
                calls::measure_loop(context, &case, calls, calls::nothing_left);
            }
        }
        Ok(())
    }
}

#[cold]
fn no_memory(bytes: usize) -> Failure {
    Failure::Failed(format!("malloc has no block of {bytes} bytes"))
}
