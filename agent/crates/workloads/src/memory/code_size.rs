//! `memory.code_size`: straight-line code of a growing size, compiled at four levels.

use super::second_cache;
use crate::opt_level;
use pentathlon_code::{expected, run, Function, Level, State};
use pentathlon_harness::measure::{Body, Context, Failure, Quantity};
use pentathlon_os::code::Copies;
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;
use std::io;

pub struct CodeSize;

/// 4 to 1020 KiB (venkata2003 §3.2), in steps of 8 KiB up to 260 KiB and of 40 KiB above: in steps
/// of 8 KiB throughout, four levels are 512 cases, more than fits into the default time-out.
pub fn sizes() -> Vec<u64> {
    let fine = (4..=260).step_by(8);
    let coarse = (300..=1020).step_by(40);
    fine.chain(coarse).map(|kib: u64| kib << 10).collect()
}

impl pentathlon_harness::Workload for CodeSize {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "memory.code_size",
            title: "Resident code size",
            summary: "Executes straight-line code of a growing size again and again: the time per \
                      byte of code rises where a cache can no longer hold the code.",
            source: "venkata2003 §3.2 and §7.1 (resident code), with code in the place of data",
            parameters: vec![
                Parameter::integers("code_bytes", &sizes())
                    .unit("B")
                    .limits(4096.0, (64u64 << 20) as f64)
                    .described(
                        "sizes of the code: whole functions of about 1 or 2 KiB that have at most \
                         so many bytes",
                    ),
                second_cache::parameter(),
                opt_level::every(),
            ],
            factors: vec![
                Factor::new("code_bytes", "code size", Some("B"), "linear"),
                opt_level::factor(),
            ],
            metrics: vec![Metric::lower(
                "time",
                "Time per byte of code executed",
                "ns",
            )],
            checksum:
                "exclusive or of the four numbers that one pass over the code makes of 1, 2, \
                       3 and 4; every batch must yield what its number of passes yields when \
                       computed from the code's constants",
            semantics: Semantics {
                linux:
                    "the agent's own text, mapped from its file: resident after the first pass; \
                        what is larger than that is copies of it in private memory (mprotect(2))",
                windows: "the agent's own text, mapped from its file: resident after the first \
                          pass; what is larger than that is copies of it in private memory \
                          (VirtualProtect)",
            },
        }
    }

    fn timeout_s(&self) -> Option<f64> {
        Some(300.0)
    }

    fn buffers(&self) -> u8 {
        1
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let requested = context.parameters.integers("code_bytes");
        let sizes = second_cache::followed(context, &requested);
        for level in opt_level::chosen(context) {
            let ends = level.bytes();
            if let Some(ends) = &ends {
                context.log(format!(
                    "memory.code_size: level {} has {} functions with {} B, the first with {} B",
                    level.name,
                    level.functions(),
                    ends[level.functions()],
                    ends[1]
                ));
            }
            let largest = sizes.iter().copied().max().unwrap_or(0);
            let copies = copies(&level, ends.as_deref(), largest);
            for &bytes in &sizes {
                let case = Case::new()
                    .with("code_bytes", bytes)
                    .with("opt_level", level.name);
                let found = functions(ends.as_deref(), bytes).and_then(|(functions, real)| {
                    let code = match &copies {
                        _ if functions <= level.functions() => level.piece(functions),
                        Ok(copies) => &copies.functions()[..functions],
                        Err(reason) => return Err(reason.clone()),
                    };
                    Ok((code, real))
                });
                match found {
                    Ok((code, real)) => {
                        let quantity = Quantity::NsPer { parts: real as f64 };
                        let mut body = Code::new(code, level.functions());
                        context.measure("time", &case, quantity, &mut body);
                    }
                    Err(reason) => context.fail(Some(&case), &Failure::Unsupported(reason)),
                }
            }
        }
        Ok(())
    }
}

/// Copies of a level's code for sizes up to `largest`; the error is a sentence.
fn copies(level: &Level, ends: Option<&[usize]>, largest: u64) -> Result<Copies, String> {
    let whole = ends.and_then(|ends| ends.last().copied()).unwrap_or(0);
    if largest <= whole as u64 {
        return Err("no size asks for copies".into());
    }
    if let Some(spare) = super::available::bytes().filter(|&spare| largest > spare) {
        return Err(format!(
            "{largest} B of code are wanted, the system can spare {spare} B"
        ));
    }
    Copies::of(level, largest as usize).map_err(|error| match error.kind() {
        io::ErrorKind::Unsupported => format!(
            "the code of this level has {whole} B, and on this architecture it cannot be copied"
        ),
        _ => format!(
            "the code of this level has {whole} B, and the system lets no copy of it be executed: \
             {error}"
        ),
    })
}

/// The most functions that have at most `bytes`, and how many bytes they have. After the last one
/// the first of a copy follows.
fn functions(ends: Option<&[usize]>, bytes: u64) -> Result<(usize, usize), String> {
    let Some((&whole, begins)) = ends.and_then(|ends| ends.split_last()) else {
        return Err("the linker did not lay the functions out side by side".into());
    };
    let (copies, rest) = (bytes as usize / whole, bytes as usize % whole);
    let places = begins.partition_point(|&begin| begin <= rest) - 1;
    let functions = copies * begins.len() + places;
    if functions == 0 {
        return Err(format!(
            "one function has {} B, more than {bytes} B",
            begins.get(1).copied().unwrap_or(whole)
        ));
    }
    Ok((functions, copies * whole + begins[places]))
}

const START: State = [1, 2, 3, 4];

struct Code<'a> {
    code: &'a [Function],
    /// How many functions are different.
    distinct: usize,
    state: State,
    /// What one pass makes of [`START`].
    checksum: u64,
    /// The expected state after batches, computed as far as this many passes.
    known: (u64, State),
}

impl<'a> Code<'a> {
    fn new(code: &'a [Function], distinct: usize) -> Self {
        let once = expected(code.len(), distinct, 1, START);
        Self {
            code,
            distinct,
            state: START,
            checksum: once.into_iter().fold(0, |all, number| all ^ number),
            known: (0, START),
        }
    }

    /// The state after so many passes from [`START`].
    fn after(&mut self, passes: u64) -> State {
        let (done, state) = self.known;
        let after = |passes, state| expected(self.code.len(), self.distinct, passes, state);
        self.known = if passes >= done {
            (passes, after(passes - done, state))
        } else {
            (passes, after(passes, START))
        };
        self.known.1
    }
}

impl Body for Code<'_> {
    fn batch(&mut self, operations: u64) -> u64 {
        let mut state = START;
        run(self.code, operations, &mut state);
        self.state = state;
        operations
    }

    fn verify(&mut self, operations: u64, _returned: u64) -> Result<u64, Failure> {
        let expected = self.after(operations);
        if self.state == expected {
            Ok(self.checksum)
        } else {
            Err(Failure::Invalid(format!(
                "{operations} passes over the code yield {:x?}, not {expected:x?}",
                self.state
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_code::levels;

    #[test]
    fn the_default_sizes_span_the_published_ones() {
        let sizes = sizes();
        assert_eq!(sizes.len(), 52);
        assert_eq!((sizes[0], sizes[51]), (4 << 10, 1020 << 10));
        // Each of them is one of the published 128.
        assert!(sizes.iter().all(|bytes| bytes % 8192 == 4096));
        assert!(sizes.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn a_size_is_filled_with_whole_functions() {
        let ends = [0, 1000, 2100, 3100];
        let of = |bytes| functions(Some(&ends), bytes);
        assert_eq!(of(1000), Ok((1, 1000)));
        assert_eq!(of(2099), Ok((1, 1000)));
        assert_eq!(of(3100), Ok((3, 3100)));
        // What is larger goes on in copies.
        assert_eq!(of(4099), Ok((3, 3100)));
        assert_eq!(of(4100), Ok((4, 4100)));
        assert_eq!(of(2 * 3100 + 2100), Ok((8, 8300)));
        assert!(of(999).unwrap_err().contains("one function"));
        assert!(functions(None, 1000).is_err());
    }

    #[test]
    fn all_levels_have_one_checksum_and_a_wrong_pass_count_is_found() {
        let mut checksums = Vec::new();
        for level in levels() {
            let mut code = Code::new(level.piece(20), level.functions());
            for passes in [1, 5, 2] {
                let returned = code.batch(passes);
                checksums.push(code.verify(passes, returned).unwrap());
                assert!(matches!(
                    code.verify(passes + 1, returned),
                    Err(Failure::Invalid(_))
                ));
            }
        }
        assert_eq!(checksums.len(), 12);
        assert!(checksums.iter().all(|&sum| sum == checksums[0]));
    }
}
