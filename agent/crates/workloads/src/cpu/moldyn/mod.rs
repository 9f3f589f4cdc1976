//! `cpu.moldyn`: molecular dynamics of a Lennard-Jones liquid.

mod neighbours;
mod system;

use super::checksum::of_words;
use pentathlon_harness::measure::{Body, Context, Failure, Quantity};
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;
use system::{Potential, System};

/// A. Rahman's liquid argon (Physical Review 136, 1964): 864 atoms at 94.4 K and 1.374 g/cm³, in
/// units of σ = 3.4 Å and ε/k = 120 K.
const DENSITY: f64 = 0.8072;
const TEMPERATURE: f64 = 0.787;
const CUTOFF: f64 = 2.5;
const STEP: f64 = 0.004;
/// Energy, in ε per atom, that a sound simulation may gain or lose.
const LARGEST_DRIFT: f64 = 2e-3;

pub struct MolDyn;

impl super::Workload for MolDyn {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "cpu.moldyn",
            title: "Molecular dynamics",
            summary: "Liquid argon after Rahman: Lennard-Jones forces with lists of neighbours, \
                      moved by velocity Verlet. Energy and momentum must be conserved.",
            source: "martinovic2012 §4.4, Tab. 6 and 13 (ScienceMark MolDyn)",
            parameters: vec![
                Parameter::integers("cells", &[6])
                    .limits(3.0, 32.0)
                    .described(
                        "cells of four atoms along each edge of the crystal that the liquid \
                         starts as; 6 are Rahman's 864 atoms",
                    ),
                Parameter::integer("steps", 1000)
                    .limits(1.0, 1_000_000.0)
                    .described("time steps of 0.004 reduced units (8.6 fs for argon)"),
            ],
            factors: vec![Factor::new("cells", "cells along an edge", None, "linear")],
            metrics: vec![Metric::lower("time", "Calculation time", "s")],
            checksum: "FNV-1a of the last positions and velocities",
            semantics: Semantics::alike("no system calls but for memory"),
        }
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let steps = context.parameters.integer("steps");
        for cells in context.parameters.integers("cells") {
            let case = Case::new().with("cells", cells);
            let mut body = Simulation::new(cells as usize, steps, context.seed);
            context.measure("time", &case, Quantity::SECONDS, &mut body);
        }
        Ok(())
    }
}

/// One operation is a whole simulation, always from the same start.
struct Simulation {
    start: System,
    steps: u64,
    end: Option<System>,
}

impl Simulation {
    fn new(cells: usize, steps: u64, seed: u64) -> Self {
        let potential = Potential::new(CUTOFF);
        Self {
            start: System::crystal(cells, DENSITY, TEMPERATURE, potential, seed),
            steps,
            end: None,
        }
    }
}

impl Body for Simulation {
    fn batch(&mut self, operations: u64) -> u64 {
        let mut sum = 0u64;
        for _ in 0..operations {
            let mut system = std::hint::black_box(&self.start).clone();
            for _ in 0..self.steps {
                system.step(STEP);
            }
            sum = sum.wrapping_add(checksum(&system));
            self.end = Some(system);
        }
        sum
    }

    fn verify(&mut self, operations: u64, returned: u64) -> Result<u64, Failure> {
        let Some(end) = &self.end else {
            return Err(Failure::Invalid("nothing was simulated".into()));
        };
        let drift = (end.energy() - self.start.energy()) / end.atoms() as f64;
        if drift.abs() > LARGEST_DRIFT || drift.is_nan() {
            return Err(Failure::Invalid(format!(
                "the energy drifted by {drift:e} ε per atom, more than {LARGEST_DRIFT:e}"
            )));
        }
        let momentum = end.momentum();
        if !momentum.iter().all(|p| p.abs() < 1e-6) {
            return Err(Failure::Invalid(format!(
                "the atoms' momentum is {momentum:?}, and it must stay 0"
            )));
        }
        let checksum = checksum(end);
        if checksum.wrapping_mul(operations) != returned {
            return Err(Failure::Invalid(
                "simulations from one start ended differently".into(),
            ));
        }
        Ok(checksum)
    }
}

fn checksum(system: &System) -> u64 {
    let numbers = system.positions.iter().chain(&system.velocities).flatten();
    of_words(numbers.map(|x| x.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_depends_on_seed_and_steps_and_not_on_the_batch() {
        let run = |steps, seed, operations| {
            let mut simulation = Simulation::new(3, steps, seed);
            let returned = simulation.batch(operations);
            simulation.verify(operations, returned).expect("sound")
        };
        assert_eq!(run(20, 1, 1), run(20, 1, 3));
        assert_ne!(run(20, 1, 1), run(21, 1, 1));
        assert_ne!(run(20, 1, 1), run(20, 2, 1));
    }

    #[test]
    fn lost_energy_is_invalid() {
        let mut simulation = Simulation::new(3, 5, 1);
        let returned = simulation.batch(1);
        simulation.end.as_mut().expect("simulated").velocities[0] = [9.0, 0.0, 0.0];
        assert!(matches!(
            simulation.verify(1, returned),
            Err(Failure::Invalid(_))
        ));
    }
}
