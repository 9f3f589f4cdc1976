//! `arithmetic.loop`: the published loop, one operation in each iteration, at every level.

use super::chains;
use super::operation::{Kind, Operation};
use crate::opt_level;
use pentathlon_code::Level;
use pentathlon_harness::measure::{Body, Context, Failure, Quantity};
use pentathlon_protocol::catalog::{self, Direction, Factor, Metric, Semantics};
use pentathlon_protocol::Case;

pub struct Loop;

/// Iterations of one operation of a batch.
const ITERATIONS: u64 = 1000;

impl pentathlon_harness::Workload for Loop {
    fn describe(&self) -> catalog::Workload {
        let [operations, types] = super::choices();
        catalog::Workload {
            id: "arithmetic.loop",
            title: "Loop over an arithmetic operation",
            summary: "A loop with one addition, subtraction, multiplication or division in each \
                      iteration, compiled with and without optimisation: the rate includes the \
                      loop.",
            source: "venkata2003 §6.1, Fig. 31 and 32",
            parameters: vec![
                operations,
                types,
                opt_level::parameter(&opt_level::WITHOUT_AND_WITH),
            ],
            factors: vec![
                Factor::category("operation", "operation"),
                Factor::category("type", "type of the numbers"),
                opt_level::factor(),
            ],
            metrics: vec![Metric::new(
                "rate",
                "Operations per second",
                "Mops/s",
                Direction::Higher,
            )],
            checksum: "the operation's result as bits; every batch must have added it up as often \
                       as it was computed",
            semantics: Semantics::alike("no system calls"),
        }
    }

    fn buffers(&self) -> u8 {
        1
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let (operations, kinds) = super::requested(context);
        for level in opt_level::chosen(context) {
            for &operation in &operations {
                for &kind in &kinds {
                    let case = Case::new()
                        .with("operation", operation.name())
                        .with("type", kind.name())
                        .with("opt_level", level.name);
                    let quantity = Quantity::MegaPerSecond {
                        units: ITERATIONS as f64,
                    };
                    match Looped::new(level, operation, kind) {
                        Ok(mut body) => context.measure("rate", &case, quantity, &mut body),
                        Err(failure) => context.fail(Some(&case), &failure),
                    }
                }
            }
        }
        Ok(())
    }
}

struct Looped {
    run: pentathlon_code::Operation,
    first: u64,
    second: u64,
    result: u64,
}

impl Looped {
    fn new(level: Level, operation: Operation, kind: Kind) -> Result<Self, Failure> {
        let run = level
            .operation(operation as usize, kind as usize)
            .ok_or_else(|| {
                Failure::Unsupported(
                    "the loops are written down for x86-64 and 64-bit Arm only".into(),
                )
            })?;
        let (first, second) = operands(operation, kind);
        let (number, operand) = if divides_integers(operation, kind) {
            (second, first)
        } else {
            (first, second)
        };
        Ok(Self {
            run,
            first,
            second,
            result: chains::apply(operation, kind, number, operand),
        })
    }
}

fn divides_integers(operation: Operation, kind: Kind) -> bool {
    operation == Operation::Divide && !kind.is_float()
}

/// Numbers of full width, as the chains have them: the addend and the factor of integers, a dividend
/// and a divisor of half its width; the roots of two and three.
fn operands(operation: Operation, kind: Kind) -> (u64, u64) {
    let other = |operation| chains::operands(operation, kind)[0];
    match kind {
        Kind::F32 => (
            u64::from(std::f32::consts::SQRT_2.to_bits()),
            other(Operation::Multiply),
        ),
        Kind::F64 => (
            std::f64::consts::SQRT_2.to_bits(),
            other(Operation::Multiply),
        ),
        _ if operation == Operation::Divide => (
            other(Operation::Divide),
            chains::start(Operation::Divide, kind)[0],
        ),
        _ => (other(Operation::Add), other(Operation::Multiply)),
    }
}

impl Body for Looped {
    fn batch(&mut self, operations: u64) -> u64 {
        (self.run)(operations * ITERATIONS, self.first, self.second)
    }

    fn verify(&mut self, operations: u64, sum: u64) -> Result<u64, Failure> {
        let expected = self.result.wrapping_mul(operations * ITERATIONS);
        if sum == expected {
            return Ok(self.result);
        }
        Err(Failure::Invalid(format!(
            "the results of {} iterations add up to {sum:#x}, not to {expected:#x}",
            operations * ITERATIONS
        )))
    }
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;
    use pentathlon_code::levels;
    use std::collections::BTreeSet;

    #[test]
    fn every_level_computes_what_plain_rust_does_and_as_often() {
        let mut results = BTreeSet::new();
        for level in levels() {
            for operation in Operation::ALL {
                for kind in Kind::ALL {
                    let mut body = Looped::new(level, operation, kind).unwrap();
                    for operations in [1, 3] {
                        let sum = body.batch(operations);
                        results.insert(body.verify(operations, sum).unwrap());
                        assert!(matches!(
                            body.verify(operations + 1, sum),
                            Err(Failure::Invalid(_))
                        ));
                    }
                }
            }
        }
        assert_eq!(results.len(), 16, "one result for each operation and type");
    }

    #[test]
    fn no_operation_is_on_short_or_round_numbers() {
        for operation in Operation::ALL {
            for kind in Kind::ALL {
                let (first, second) = operands(operation, kind);
                assert!(first.count_ones() >= 6 && second.count_ones() >= 6);
            }
        }
    }
}
