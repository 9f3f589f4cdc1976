//! `memory.latency`: random-access latency over the block size, with small and with huge pages.

use super::arena::Arena;
use super::kernels::Chain;
use super::{sizes, smaps};
use pentathlon_harness::measure::{Body, Context, Failure, Quantity};
use pentathlon_os::region::{Pages, ALIGNMENT};
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;

pub struct Latency;

impl pentathlon_harness::Workload for Latency {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "memory.latency",
            title: "Random-access latency",
            summary:
                "Follows a ring of addresses through every cache line of a block, in a random \
                      order that no prefetcher predicts: each load waits for the one before it.",
            source: "venkata2003 §3.1; lmbench lat_mem_rd",
            parameters: vec![
                sizes::parameter(),
                Parameter::integer("stride_bytes", sizes::LINE_BYTES as u64)
                    .unit("B")
                    .limits(sizes::LINE_BYTES as f64, (1u64 << 20) as f64)
                    .described(
                        "distance of the addresses, rounded up to whole cache lines of 64 B",
                    ),
                Parameter::texts_of("pages", &["base", "huge"]).described(
                    "base: the smallest pages; huge: transparent huge pages, measured only where \
                     the system shows that it uses them",
                ),
            ],
            factors: vec![sizes::factor(), Factor::category("pages", "pages")],
            metrics: vec![Metric::lower("time", "Time per access", "ns")],
            checksum: "wrapping sum over the ring of each line's place (from 1) times the number \
                       of the line that follows (from 1); every batch must end at the line that \
                       its number of loads leads to",
            semantics: Semantics {
                linux: "base: MADV_NOHUGEPAGE; huge: MADV_HUGEPAGE, confirmed by AnonHugePages in \
                        /proc/self/smaps",
                windows: "base: committed private memory; huge: unsupported",
            },
        }
    }

    fn buffers(&self) -> u8 {
        1
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let sizes = sizes::rounded(&context.parameters.integers("block_bytes"));
        let stride = sizes::rounded(&[context.parameters.integer("stride_bytes")])[0];
        let pages: Vec<String> = sizes::distinct(&context.parameters.texts("pages"))
            .into_iter()
            .map(Into::into)
            .collect();
        for pages in &pages {
            // One kind of page after the other: the first one's memory is given back before.
            let kind = match pages.as_str() {
                "huge" => Pages::Huge,
                _ => Pages::Base,
            };
            let mut arena = Arena::new(&sizes, kind);
            for &bytes in &sizes {
                let case = Case::new()
                    .with("block_bytes", bytes as u64)
                    .with("pages", pages.as_str());
                let chain = match &mut arena {
                    Ok(arena) => build(arena, bytes, stride, kind, context.seed),
                    Err(failure) => Err(failure.clone()),
                };
                match chain {
                    Ok(chain) => {
                        context.measure("time", &case, Quantity::NS, &mut Walk::along(chain))
                    }
                    Err(failure) => context.fail(Some(&case), &failure),
                }
            }
        }
        Ok(())
    }
}

/// A ring through a block that is backed by pages of `kind`.
pub(super) fn build(
    arena: &mut Arena,
    bytes: usize,
    stride: usize,
    kind: Pages,
    seed: u64,
) -> Result<Chain<'_>, Failure> {
    let nodes = (bytes / stride) as u64;
    if !(2..=Chain::MOST).contains(&nodes) {
        return Err(Failure::Unsupported(format!(
            "a ring has 2 to {} lines, a block of {bytes} B with a line every {stride} B has \
             {nodes}",
            Chain::MOST
        )));
    }
    arena.block(bytes, Chain::bytes_to_build(nodes))?;
    if kind == Pages::Huge {
        confirm_huge(arena)?;
    }
    let words = arena.block(bytes, Chain::bytes_to_build(nodes))?;
    Ok(Chain::build(words, stride / 8, seed))
}

/// Whether huge pages back everything touched so far.
fn confirm_huge(arena: &Arena) -> Result<(), Failure> {
    let touched = arena.touched();
    let bytes = touched.len().next_multiple_of(ALIGNMENT) as u64;
    match smaps::huge_bytes(&touched) {
        Some(huge) if huge >= bytes => Ok(()),
        Some(huge) => Err(Failure::Unsupported(format!(
            "the system backs {huge} of {bytes} B with huge pages (AnonHugePages in \
             /proc/self/smaps)"
        ))),
        None => Err(Failure::Unsupported(
            "the system does not report which pages are huge (no AnonHugePages in /proc/self/smaps)"
                .into(),
        )),
    }
}

/// A walk that goes on where the last batch ended, whether or not that was checked.
pub(super) struct Walk<'a> {
    chain: Chain<'a>,
    checksum: u64,
    /// Loads since the last check.
    steps: u64,
}

impl<'a> Walk<'a> {
    pub fn along(chain: Chain<'a>) -> Self {
        Self {
            checksum: chain.checksum(),
            chain,
            steps: 0,
        }
    }
}

impl Body for Walk<'_> {
    fn batch(&mut self, operations: u64) -> u64 {
        self.steps += operations;
        self.chain.walk_on(operations)
    }

    fn verify(&mut self, _operations: u64, returned: u64) -> Result<u64, Failure> {
        self.chain
            .arrive(std::mem::take(&mut self.steps), returned)
            .map_err(Failure::Invalid)?;
        Ok(self.checksum)
    }
}
