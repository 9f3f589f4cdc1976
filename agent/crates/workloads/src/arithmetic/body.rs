//! The timed body: blocks of operations on all chains, and the proof that they were done.

use super::chains;
use super::kernels::{self, Kernel, Rate, State, QUOTIENTS};
use super::operation::{Kind, Operation};
use pentathlon_harness::measure::{Body, Failure};

pub struct Chains {
    operation: Operation,
    kind: Kind,
    rate: Rate,
    kernel: Kernel,
    operands: [u64; 2],
    state: State,
    checksum: u64,
}

impl Chains {
    /// Runs one block to see that the operations are right.
    pub fn new(operation: Operation, kind: Kind, rate: Rate) -> Result<Self, Failure> {
        let mut chains = Self {
            operation,
            kind,
            rate,
            kernel: kernels::kernel(operation, kind, rate),
            operands: chains::operands(operation, kind),
            state: State::default(),
            checksum: 0,
        };
        chains.prepare(1)?;
        chains.batch(1);
        chains.verify(1, 0)?;
        chains.checksum = chains.state.iter().fold(0, |hash, &word| mix(hash ^ word));
        Ok(chains)
    }

    /// Where `blocks` blocks lead.
    fn expected(&self, blocks: u64) -> State {
        let start = chains::start(self.operation, self.kind);
        let chains = kernels::chains(self.operation, self.kind, self.rate);
        let steps = kernels::steps(self.kind, self.rate) * blocks;
        let mut state = start;
        if self.operation == Operation::Divide && !self.kind.is_float() {
            // Every quotient is added up.
            state[QUOTIENTS] = match self.rate {
                Rate::Throughput => {
                    let quotients = start[..chains]
                        .iter()
                        .fold(0u64, |sum, &divisor| sum + self.operands[0] / divisor);
                    quotients.wrapping_mul(steps)
                }
                Rate::Latency => {
                    let (first, second) = (self.operands[0] / start[0], start[0]);
                    state[0] = chains::arrival(self.operation, self.kind, start[0], steps);
                    (first.wrapping_mul(steps - steps / 2))
                        .wrapping_add(second.wrapping_mul(steps / 2))
                }
            };
        } else {
            for number in &mut state[..chains] {
                *number = chains::arrival(self.operation, self.kind, *number, steps);
            }
        }
        state
    }
}

impl Body for Chains {
    fn prepare(&mut self, _operations: u64) -> Result<(), Failure> {
        self.state = chains::start(self.operation, self.kind);
        Ok(())
    }

    fn batch(&mut self, operations: u64) -> u64 {
        (self.kernel)(&mut self.state, self.operands, operations);
        operations
    }

    fn verify(&mut self, operations: u64, _returned: u64) -> Result<u64, Failure> {
        let expected = self.expected(operations);
        match (0..expected.len()).find(|&chain| self.state[chain] != expected[chain]) {
            None => Ok(self.checksum),
            Some(chain) => Err(Failure::Invalid(format!(
                "after {operations} blocks of {} {} chain {chain} is at {:#x}, not at {:#x}",
                self.operation.name(),
                self.kind.name(),
                self.state[chain],
                expected[chain]
            ))),
        }
    }
}

/// A bijection in which every bit of the number decides about all (splitmix64's finisher).
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies() -> impl Iterator<Item = Chains> {
        Operation::ALL.into_iter().flat_map(|operation| {
            Kind::ALL.into_iter().flat_map(move |kind| {
                [Rate::Throughput, Rate::Latency]
                    .map(|rate| Chains::new(operation, kind, rate).unwrap())
            })
        })
    }

    #[test]
    fn every_case_arrives_and_has_one_checksum_whatever_the_batch() {
        for mut body in bodies() {
            let mut seen = Vec::new();
            for blocks in [1, 2, 3, 4, 5, 1000] {
                body.prepare(blocks).unwrap();
                let returned = body.batch(blocks);
                seen.push(body.verify(blocks, returned).unwrap());
            }
            assert!(seen.iter().all(|&checksum| checksum == seen[0]));
        }
    }

    #[test]
    fn the_instructions_and_plain_rust_compute_the_same() {
        for body in bodies() {
            let portable = kernels::portable(body.operation, body.kind, body.rate);
            for blocks in [1, 2, 5] {
                let mut state = chains::start(body.operation, body.kind);
                portable(&mut state, body.operands, blocks);
                assert_eq!(state, body.expected(blocks));
            }
        }
    }

    #[test]
    fn a_block_that_was_not_done_or_went_wrong_is_invalid() {
        for mut body in bodies() {
            body.prepare(3).unwrap();
            body.batch(2);
            assert!(
                matches!(body.verify(3, 3), Err(Failure::Invalid(_))),
                "{:?} {:?} {:?}",
                body.operation,
                body.kind,
                body.rate
            );
            body.prepare(3).unwrap();
            body.batch(3);
            body.state[0] ^= 1;
            assert!(matches!(body.verify(3, 3), Err(Failure::Invalid(_))));
        }
    }

    #[test]
    fn every_case_has_a_checksum_of_its_own() {
        let mut seen = std::collections::BTreeMap::new();
        for body in bodies() {
            let case = (body.operation, body.kind, body.rate);
            if let Some(other) = seen.insert(body.checksum, case) {
                panic!(
                    "{case:?} and {other:?} have the checksum {:#x}",
                    body.checksum
                );
            }
        }
        assert_eq!(seen.len(), 32);
    }
}
