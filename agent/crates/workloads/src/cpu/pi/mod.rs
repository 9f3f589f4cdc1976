//! `cpu.pi`: π to millions of decimal digits, as Super PI computes it.

mod agm;
mod chudnovsky;
mod fixed;
mod integer;
#[allow(unsafe_code)]
mod kernels;
mod transform;

use fixed::Fixed;
use integer::Multiplier;
use kernels::Kernels;
use pentathlon_harness::measure::{Body, Context, Failure, Quantity};
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;

pub struct Pi;

impl super::Workload for Pi {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "cpu.pi",
            title: "Digits of π",
            summary: "π by the Gauss–Legendre algorithm, with an own multiplication by fast \
                      Fourier transforms of doubles; checked, digit by digit, against the \
                      Chudnovsky series.",
            source: "martinovic2012 §4.6, Tab. 6 and 13 (Super PI)",
            parameters: vec![Parameter::integers("digits", &[1 << 20, 1 << 22, 1 << 24])
                .unit("digits")
                .limits(20.0, (1u64 << 25) as f64)
                .described(
                    "decimal places; Super PI's millions are 1048576 digits, and the paper's 4 M \
                     and 16 M are 4194304 and 16777216",
                )],
            factors: vec![Factor::new("digits", "decimal places", None, "log2")],
            metrics: vec![Metric::lower("time", "Calculation time", "s")],
            checksum: "FNV-1a of the decimal places in groups of five",
            semantics: Semantics::alike("no system calls but for memory"),
        }
    }

    fn timeout_s(&self) -> Option<f64> {
        // A dozen calculations of 16 M digits at 20 s each on a fast machine.
        Some(3600.0)
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let kernels = Kernels::best();
        context.log(format!("cpu.pi multiplies with the {} loops", kernels.name));
        for digits in context.parameters.integers("digits") {
            let case = Case::new().with("digits", digits);
            let mut body = Digits::new(digits as usize, kernels);
            context.measure("time", &case, Quantity::SECONDS, &mut body);
            context.log(format!(
                "cpu.pi to {digits} digits: the largest rounding error of a product was {:.4}",
                body.by.worst()
            ));
        }
        Ok(())
    }
}

/// Computes π; the first result is compared with the series', the others with the first.
struct Digits {
    digits: usize,
    by: Multiplier,
    last: Option<Fixed>,
    checksum: Option<u64>,
}

impl Digits {
    fn new(digits: usize, kernels: Kernels) -> Self {
        Self {
            digits,
            by: Multiplier::new(kernels),
            last: None,
            checksum: None,
        }
    }

    fn check(&mut self, sum: u64) -> Result<u64, Failure> {
        if let Some(fault) = self.by.fault() {
            return Err(Failure::Invalid(fault.into()));
        }
        match self.checksum {
            None => {
                let series = chudnovsky::pi(agm::places(self.digits), &mut self.by);
                if self.last.as_ref() != Some(&series) {
                    return Err(Failure::Invalid(
                        "the Gauss–Legendre algorithm and the Chudnovsky series give different \
                         digits"
                            .into(),
                    ));
                }
                self.checksum = Some(sum);
                Ok(sum)
            }
            Some(expected) if expected == sum => Ok(sum),
            Some(_) => Err(Failure::Invalid(
                "two calculations gave different digits".into(),
            )),
        }
    }
}

impl Body for Digits {
    fn batch(&mut self, operations: u64) -> u64 {
        for _ in 0..operations {
            self.last = Some(agm::pi(self.digits, &mut self.by));
        }
        0
    }

    fn verify(&mut self, _operations: u64, _returned: u64) -> Result<u64, Failure> {
        let Some(pi) = &self.last else {
            return Err(Failure::Invalid("π was not calculated".into()));
        };
        let sum = super::checksum::of_words(pi.limbs().iter().map(|&limb| u64::from(limb)));
        self.check(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(pi: &Fixed) -> String {
        let (integer, fraction) = pi.limbs().split_last().expect("an integer part");
        let places: String = fraction.iter().rev().map(|l| format!("{l:05}")).collect();
        format!("{integer}.{places}")
    }

    #[test]
    fn the_first_hundred_places_are_the_published_ones() {
        // Abramowitz and Stegun, table 1.1.
        let published = "3.1415926535897932384626433832795028841971693993751058209749445923078164\
                         062862089986280348253421170679";
        for kernels in Kernels::all() {
            let mut by = Multiplier::new(kernels);
            assert_eq!(decimal(&agm::pi(100, &mut by)), published);
            assert_eq!(decimal(&chudnovsky::pi(20, &mut by)), published);
        }
    }

    #[test]
    fn places_999_996_to_1_000_000_are_the_published_ones() {
        // The millionth place and those before it: ...5779458151 (D. and G. Chudnovsky; Y. Kanada).
        let mut by = Multiplier::new(Kernels::best());
        let pi = agm::pi(1_000_000, &mut by);
        assert!(decimal(&pi).ends_with("5779458151"));
        assert_eq!(by.fault(), None);
    }

    #[test]
    fn both_algorithms_agree_to_the_last_digit_at_every_length() {
        let mut by = Multiplier::new(Kernels::best());
        for digits in [20, 25, 50, 333, 1000, 4999, 10_000, 54_321] {
            let first = agm::pi(digits, &mut by);
            let second = chudnovsky::pi(agm::places(digits), &mut by);
            assert_eq!(first, second, "{digits}");
        }
        assert_eq!(by.fault(), None);
    }

    #[test]
    fn a_wrong_digit_is_noticed() {
        let mut body = Digits::new(500, Kernels::best());
        body.batch(1);
        let pi = body.last.as_mut().expect("calculated");
        pi.limbs_mut()[3] ^= 1;
        assert!(matches!(body.verify(1, 0), Err(Failure::Invalid(_))));
    }
}
