//! `process.call_styles`: the same loops inline, as function calls, as a recursion and as forked
//! processes, and how their time grows with the number of repetitions.

mod guard;
mod kernels;

use super::{entry, refusal};
use crate::opt_level;
use pentathlon_code::Level;
use pentathlon_harness::measure::{Body, Context, Failure, Quantity};
use pentathlon_os::{child, descriptor};
use pentathlon_protocol::catalog::{self, Factor, Parameter, Semantics};
use pentathlon_protocol::Case;

pub struct CallStyles;

const MOST_REPETITIONS: u64 = 16_384;
const LARGEST_SIZE: u64 = 1 << 20;
/// The stack that one call of the recursion may take, in bytes.
const LARGEST_FRAME: u64 = 256;
/// The same where nothing is optimised.
const LARGEST_FRAME_UNOPTIMISED: u64 = 1024;
/// The least that a call leaves on any stack, in bytes: its return address, aligned.
const SMALLEST_FRAME: u64 = 16;

impl pentathlon_harness::Workload for CallStyles {
    fn describe(&self) -> catalog::Workload {
        let repetitions = |name, default: &[u64], description| {
            Parameter::integers(name, default)
                .limits(1.0, MOST_REPETITIONS as f64)
                .described(description)
        };
        catalog::Workload {
            id: "process.call_styles",
            title: "Inline, function, recursion and fork",
            summary:
                "Nested loops that allocate, fill, sum and free an array, in four styles that \
                      compute the same sum: inline, one function call, one level of recursion or \
                      one forked process for each repetition. The time is that of all \
                      repetitions.",
            source: "venkata2003 §5.2 and §7.3, Fig. 27 to 30 and 42",
            parameters: vec![
                repetitions(
                    "repetitions",
                    &[1, 2, 4, 8, 16, 32, 64, 128, 256],
                    "repetitions of inline, function and recursion",
                ),
                repetitions(
                    "fork_repetitions",
                    &[1, 2, 4, 8, 16],
                    "repetitions, that is processes, of fork",
                ),
                Parameter::integer("size", 100)
                    .limits(1.0, LARGEST_SIZE as f64)
                    .described("integers in the array; the paper does not report its own"),
                opt_level::parameter(&opt_level::OWN),
            ],
            factors: vec![
                Factor::category("style", "style"),
                Factor::new("repetitions", "repetitions", None, "log2"),
                opt_level::factor(),
            ],
            metrics: entry::time("Time of all repetitions"),
            checksum: "the sum, equal in all four styles",
            semantics: Semantics {
                linux: "malloc(3) and free(3) of the C library that the agent was linked with; \
                        fork(3), waitpid(2) and a pipe for the processes",
                windows: "fork is unsupported: there is none",
            },
        }
    }

    fn buffers(&self) -> u8 {
        1
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let size = context.parameters.integer("size") as usize;
        let repetitions = context.parameters.integers("repetitions");
        let fork_repetitions = context.parameters.integers("fork_repetitions");
        let pipe = descriptor::pipe().map_err(|e| Failure::system("making a pipe", &e))?;
        for level in opt_level::chosen(context) {
            for (style, kernel) in STYLES {
                let guarded = possible(style, level, guard::DEEPEST)
                    .and_then(|()| guard::check(style, |n, size| kernel(level, n, size)));
                for &repetitions in &repetitions {
                    let case = case(style, repetitions, level);
                    let possible = || possible(style, level, repetitions);
                    match guarded.clone().and_then(|()| possible()) {
                        Ok(()) => study(context, &case, repetitions, size, |n| {
                            kernel(level, n, size)
                        }),
                        Err(failure) => context.fail(Some(&case), &failure),
                    }
                }
            }
            for &repetitions in &fork_repetitions {
                let case = case(FORK, repetitions, level);
                match possible(FORK, level, repetitions) {
                    Ok(()) => study(context, &case, repetitions, size, |n| {
                        kernels::forked(level, n, size, &pipe)
                    }),
                    Err(failure) => context.fail(Some(&case), &failure),
                }
            }
        }
        Ok(())
    }
}

type Kernel = fn(level: Level, repetitions: u64, size: usize) -> Result<u64, Failure>;

const STYLES: [(&str, Kernel); 3] = [
    ("inline", |level, n, size| {
        Ok(kernels::inline(level, n, size))
    }),
    ("function", |level, n, size| {
        Ok(kernels::function(level, n, size))
    }),
    (RECURSION, deep),
];
const RECURSION: &str = "recursion";
const FORK: &str = "fork";

fn case(style: &'static str, repetitions: u64, level: Level) -> Case {
    Case::new()
        .with("style", style)
        .with("repetitions", repetitions)
        .with("opt_level", level.name)
}

/// Whether this process can do so many repetitions in a style.
fn possible(style: &str, level: Level, repetitions: u64) -> Result<(), Failure> {
    match style {
        RECURSION => enough_stack(repetitions, frame(level), child::stack_limit()),
        FORK => refusal::unless_single_threaded(),
        _ => Ok(()),
    }
}

/// Measures one style at one number of repetitions; one operation is the whole study.
fn study(
    context: &mut Context<'_>,
    case: &Case,
    repetitions: u64,
    size: usize,
    kernel: impl FnMut(u64) -> Result<u64, Failure>,
) {
    let mut body = Study {
        kernel,
        repetitions,
        expected: kernels::expected(repetitions, size as u64),
        other: None,
    };
    context.measure("time", case, Quantity::NS, &mut body);
}

/// Repeats a study and compares every sum.
struct Study<K> {
    kernel: K,
    repetitions: u64,
    expected: u64,
    /// The first thing that was not the expected sum.
    other: Option<Result<u64, Failure>>,
}

impl<K: FnMut(u64) -> Result<u64, Failure>> Body for Study<K> {
    fn batch(&mut self, operations: u64) -> u64 {
        for done in 0..operations {
            let sum = (self.kernel)(std::hint::black_box(self.repetitions));
            if sum != Ok(self.expected) {
                self.other = Some(sum);
                return done;
            }
        }
        operations
    }

    fn verify(&mut self, operations: u64, done: u64) -> Result<u64, Failure> {
        match self.other.take() {
            None if done == operations => Ok(self.expected),
            Some(Err(failure)) => Err(failure),
            other => Err(Failure::Invalid(format!(
                "the sum is {other:?} and should be {}",
                self.expected
            ))),
        }
    }
}

/// The stack that one call of the recursion may take at a level, in bytes.
fn frame(level: Level) -> u64 {
    match level.name {
        "0" => LARGEST_FRAME_UNOPTIMISED,
        _ => LARGEST_FRAME,
    }
}

fn deep(level: Level, repetitions: u64, size: usize) -> Result<u64, Failure> {
    let (sum, stack) = kernels::recursion(level, repetitions, size);
    if (stack as u64) < repetitions * SMALLEST_FRAME {
        return Err(Failure::Invalid(format!(
            "{repetitions} levels of recursion took {stack} bytes of stack: the calls were not made"
        )));
    }
    Ok(sum)
}

fn enough_stack(repetitions: u64, frame: u64, limit: Option<u64>) -> Result<(), Failure> {
    let needed = repetitions * frame + (64 << 10);
    match limit {
        Some(limit) if limit < needed => Err(Failure::Unsupported(format!(
            "{repetitions} levels of recursion need a stack of {needed} bytes, and the limit \
             (`ulimit -s`) is {limit}"
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_code::levels;

    fn level() -> Level {
        levels()[3]
    }

    fn run(kernel: impl FnMut(u64) -> Result<u64, Failure>) -> Result<u64, Failure> {
        let mut body = Study {
            kernel,
            repetitions: 8,
            expected: kernels::expected(8, 10),
            other: None,
        };
        let done = body.batch(5);
        body.verify(5, done)
    }

    #[test]
    fn the_checksum_is_the_sum_of_one_study() {
        assert_eq!(
            run(|n| Ok(kernels::inline(level(), n, 10))),
            Ok(kernels::expected(8, 10))
        );
        assert_eq!(run(|n| deep(level(), n, 10)), Ok(kernels::expected(8, 10)));
    }

    #[test]
    fn a_study_that_drops_a_repetition_is_invalid() {
        let mut calls = 0;
        let found = run(|n| {
            calls += 1;
            Ok(kernels::function(
                level(),
                if calls == 4 { n - 1 } else { n },
                10,
            ))
        });
        assert!(matches!(found, Err(Failure::Invalid(_))), "{found:?}");
    }

    #[test]
    fn a_failure_inside_is_passed_on() {
        let failure = Failure::Failed("no process".into());
        assert_eq!(run(|_| Err(failure.clone())), Err(failure));
    }

    #[test]
    fn a_stack_that_is_too_small_is_reported_before_it_overflows() {
        assert!(enough_stack(1000, LARGEST_FRAME, Some(8 << 20)).is_ok());
        assert!(enough_stack(1000, LARGEST_FRAME, None).is_ok());
        let refused = enough_stack(1000, LARGEST_FRAME, Some(100_000)).unwrap_err();
        assert!(matches!(refused, Failure::Unsupported(ref s) if s.contains("ulimit -s")));
    }

    #[test]
    fn one_level_fits_the_stack_that_is_asked_for_it() {
        for level in levels() {
            let (_, stack) = kernels::recursion(level, 1000, 10);
            assert!((stack as u64) < 1000 * frame(level), "{stack}");
        }
    }
}
