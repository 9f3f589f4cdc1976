//! `test.spin`: a fixed computation with a planted slowdown.
//!
//! The slowdown is real work of the same kind, done inside the timed region and not counted, so a
//! correct pipeline must find it, and must find nothing where none was planted.

use pentathlon_harness::measure::{Closures, Context, Failure, Quantity};
use pentathlon_protocol::catalog::{self, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;

/// Rounds of the mixer in one operation; large enough that one part in a thousand is a round.
const ROUNDS: u64 = 1_000;

pub struct Spin;

impl super::Workload for Spin {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "test.spin",
            title: "Spin with a planted slowdown",
            summary: "A chain of integer multiplications, with extra uncounted work on request.",
            source: "Pentathlon",
            parameters: vec![Parameter::number("slowdown_percent", 0.0)
                .unit("%")
                .limits(0.0, 1000.0)
                .described("extra work inside the timed region, as a share of the counted work")],
            factors: vec![],
            metrics: vec![Metric::lower("time", "Time per spin", "ns")],
            checksum: "state of the mixer after one operation",
            semantics: Semantics::alike("no system calls"),
        }
    }

    fn test_only(&self) -> bool {
        true
    }

    fn buffers(&self) -> u8 {
        1
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let share = context.parameters.number("slowdown_percent") / 100.0;
        let extra = (ROUNDS as f64 * share).round() as u64;
        let expected = rounds(1, ROUNDS);
        let zero = std::hint::black_box(0u64);
        let body = |operations: u64| {
            let mut sum = 0u64;
            let mut last = 0u64;
            for _ in 0..operations {
                // Each chain starts from the end of the one before, or the processor would run the
                // extra work beside the counted work and hide it.
                last = rounds(1 ^ (last & zero), ROUNDS);
                sum = sum.wrapping_add(last);
                if extra > 0 {
                    last = std::hint::black_box(rounds(last, extra));
                }
            }
            sum
        };
        let verify = |operations: u64, sum: u64| {
            if sum == expected.wrapping_mul(operations) {
                Ok(expected)
            } else {
                Err(Failure::Invalid(
                    "the mixer's states do not add up: the work was not done".into(),
                ))
            }
        };
        context.measure(
            "time",
            &Case::new(),
            Quantity::NS,
            &mut Closures(body, verify),
        );
        Ok(())
    }
}

/// A chain of dependent steps of Vigna's xorshift-multiply mixer (splitmix64's second half): not
/// linear, so no compiler can jump ahead in it.
#[inline(never)]
fn rounds(mut state: u64, count: u64) -> u64 {
    for _ in 0..count {
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    }
    state
}
