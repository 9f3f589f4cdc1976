//! `memory.sub_looping`: a large array written many times, as a whole or piece by piece.

use super::available;
use pentathlon_harness::measure::{Body, Context, Failure, Quantity};
use pentathlon_os::region::{Pages, Region};
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;

pub struct SubLooping;

const ELEMENT: usize = size_of::<u32>();

impl pentathlon_harness::Workload for SubLooping {
    fn describe(&self) -> catalog::Workload {
        let pieces: Vec<u64> = (10..=25).map(|log| 1 << log).collect();
        let bytes = |name, default: &[u64]| {
            Parameter::integers(name, default)
                .unit("B")
                .limits(1024.0, (1u64 << 34) as f64)
        };
        catalog::Workload {
            id: "memory.sub_looping",
            title: "Looping and sub-looping",
            summary: "Writes an array of 32-bit integers many times: all passes over its first \
                      piece, then all over the next, for pieces from 1 KiB to the whole.",
            source: "venkata2003 §3.3 and §7.1, Fig. 4 to 6 and 37",
            parameters: vec![
                bytes("total_bytes", &[8 << 20, 32 << 20]).described("sizes of the array"),
                bytes("piece_bytes", &pieces).described(
                    "sizes of a piece; those larger than the array are left out, those that do not \
                     divide it are unsupported",
                ),
                Parameter::integer("passes", 40)
                    .limits(1.0, 1e9)
                    .described(
                        "passes over each piece; the paper makes 1000, and of 40 the first, which \
                         may find its piece in no cache, is a fortieth",
                    ),
            ],
            factors: vec![
                Factor::bytes("total_bytes", "array size"),
                Factor::bytes("piece_bytes", "piece size"),
            ],
            metrics: vec![Metric::lower("time", "Time per element and pass", "ns")],
            checksum: "wrapping sum of the array after the last pass: in every piece, element j \
                       holds j plus the number of the pass, from 0",
            semantics: Semantics {
                linux: "private anonymous memory with the pages that the system gives by default, \
                        touched before anything is timed",
                windows: "committed private memory, touched before anything is timed",
            },
        }
    }

    fn timeout_s(&self) -> Option<f64> {
        Some(600.0)
    }

    fn buffers(&self) -> u8 {
        1
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let parameters = context.parameters.clone();
        let passes = parameters.integer("passes") as u32;
        for total in parameters.integers("total_bytes") {
            let mut region = region(total);
            for piece in parameters.integers("piece_bytes") {
                if piece > total {
                    continue;
                }
                let case = Case::new()
                    .with("total_bytes", total)
                    .with("piece_bytes", piece);
                let usable = divides(total, piece).and(region.as_mut().map_err(|f| f.clone()));
                let array = match usable {
                    Ok(region) => region.halves(),
                    Err(failure) => {
                        context.fail(Some(&case), &failure);
                        continue;
                    }
                };
                let mut body = Loops {
                    array,
                    piece: piece as usize / ELEMENT,
                    passes,
                };
                let parts = (total as usize / ELEMENT) as f64 * f64::from(passes);
                context.measure("time", &case, Quantity::NsPer { parts }, &mut body);
            }
        }
        Ok(())
    }
}

fn divides(total: u64, piece: u64) -> Result<(), Failure> {
    if total.is_multiple_of(piece) && piece.is_multiple_of(ELEMENT as u64) {
        return Ok(());
    }
    Err(Failure::Unsupported(format!(
        "pieces of {piece} B with whole elements of {ELEMENT} B do not fill an array of {total} B"
    )))
}

fn region(total: u64) -> Result<Region, Failure> {
    if let Some(spare) = available::bytes().filter(|&spare| total > spare) {
        return Err(Failure::Unsupported(format!(
            "the array has {total} B, the system can spare {spare} B"
        )));
    }
    let bytes = (total as usize).next_multiple_of(8);
    let refused =
        |error| Failure::Unsupported(format!("the system has no {total} B of memory: {error}"));
    let mut region = Region::reserve(bytes, Pages::Default).map_err(refused)?;
    region.touch(bytes).map_err(refused)?;
    Ok(region)
}

struct Loops<'a> {
    array: &'a mut [u32],
    /// Elements of a piece.
    piece: usize,
    passes: u32,
}

/// One pass over a piece, never merged with the next one.
#[inline(never)]
fn pass(piece: &mut [u32], number: u32) {
    for (index, element) in piece.iter_mut().enumerate() {
        *element = number.wrapping_add(index as u32);
    }
}

impl Body for Loops<'_> {
    fn batch(&mut self, operations: u64) -> u64 {
        for _ in 0..operations {
            for piece in self.array.chunks_exact_mut(self.piece) {
                for number in 0..self.passes {
                    pass(std::hint::black_box(&mut *piece), number);
                }
            }
        }
        operations
    }

    fn verify(&mut self, _operations: u64, _returned: u64) -> Result<u64, Failure> {
        let last = self.passes - 1;
        let mut sum = 0u64;
        for (number, piece) in self.array.chunks_exact_mut(self.piece).enumerate() {
            for (index, element) in piece.iter_mut().enumerate() {
                let expected = last.wrapping_add(index as u32);
                if *element != expected {
                    return Err(Failure::Invalid(format!(
                        "element {index} of piece {number} holds {element}, not {expected} of the \
                         last pass"
                    )));
                }
                sum = sum.wrapping_add(u64::from(*element));
                // Spoilt, so that the next batch cannot lean on this one.
                *element = !expected;
            }
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loops(array: &mut [u32], piece: usize, passes: u32) -> Loops<'_> {
        Loops {
            array,
            piece,
            passes,
        }
    }

    #[test]
    fn every_piece_ends_with_its_last_pass() {
        let mut array = vec![0; 1024];
        for (piece, passes) in [(1024, 1), (256, 100), (256, 3), (512, 7)] {
            let mut body = loops(&mut array, piece, passes);
            body.batch(2);
            let pieces = 1024 / piece as u64;
            let each = (0..piece as u64)
                .map(|j| j + u64::from(passes) - 1)
                .sum::<u64>();
            assert_eq!(body.verify(2, 2), Ok(pieces * each));
            assert!(
                matches!(body.verify(2, 2), Err(Failure::Invalid(_))),
                "without another batch"
            );
        }
    }

    #[test]
    fn a_pass_that_is_left_out_is_found() {
        let mut array = vec![0; 512];
        let mut body = loops(&mut array, 256, 9);
        body.batch(1);
        body.array[300] -= 1;
        let outcome = body.verify(1, 1);
        assert!(
            matches!(&outcome, Err(Failure::Invalid(text)) if text.contains("44 of piece 1")),
            "{outcome:?}"
        );
    }

    #[test]
    fn pieces_that_do_not_fill_the_array_are_refused() {
        assert_eq!(divides(8192, 1024), Ok(()));
        assert!(matches!(divides(8192, 3072), Err(Failure::Unsupported(_))));
        assert!(matches!(divides(6150, 1025), Err(Failure::Unsupported(_))));
    }
}
