//! `cpu.primordia`: the Hartree–Fock orbitals of an atom.

mod element;
mod integrals;
mod matrix;
mod mesh;
mod scf;

use super::checksum::of_words;
use element::Shell;
use pentathlon_harness::measure::{Body, Context, Failure, Quantity};
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;
use scf::Atom;

/// How far the virial quotient of a sound solution may be from 2.
const LARGEST_VIRIAL_ERROR: f64 = 1e-5;

pub struct Primordia;

impl super::Workload for Primordia {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "cpu.primordia",
            title: "Orbitals of an atom",
            summary: "Solves the Hartree–Fock equations for every shell of an atom, with an \
                      orthonormal basis of Slater functions and all repulsion integrals on a \
                      radial mesh. The solution must obey the virial theorem.",
            source: "martinovic2012 §4.4, Tab. 6 and 13 (ScienceMark Primordia)",
            parameters: vec![Parameter::texts("element", &["Ag"])
                .choices(&element::SYMBOLS)
                .described(
                    "element whose neutral atom is solved; silver, as in the paper, takes longest \
                     but for its neighbours",
                )],
            factors: vec![Factor::category("element", "element")],
            metrics: vec![Metric::lower("time", "Calculation time", "s")],
            checksum: "FNV-1a of the energies of the atom and of its orbitals",
            semantics: Semantics::alike("no system calls but for memory"),
        }
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let parameters = context.parameters.clone();
        for symbol in parameters.texts("element") {
            let case = Case::new().with("element", symbol);
            let mut body = Solve {
                charge: element::charge(symbol).expect("checked against the choices"),
                shells: element::shells(symbol).expect("checked against the choices"),
                last: None,
            };
            context.measure("time", &case, Quantity::SECONDS, &mut body);
            if let Some(atom) = body.last {
                context.log(format!(
                    "{symbol}: {:.6} Hartree after {} rounds",
                    atom.energy, atom.rounds
                ));
            }
        }
        Ok(())
    }
}

struct Solve {
    charge: u32,
    shells: Vec<Shell>,
    last: Option<Atom>,
}

impl Body for Solve {
    fn batch(&mut self, operations: u64) -> u64 {
        let mut sum = 0u64;
        for _ in 0..operations {
            let atom = scf::solve(std::hint::black_box(self.charge), &self.shells);
            sum = sum.wrapping_add(checksum(&atom));
            self.last = Some(atom);
        }
        sum
    }

    fn verify(&mut self, operations: u64, returned: u64) -> Result<u64, Failure> {
        let Some(atom) = &self.last else {
            return Err(Failure::Invalid("no atom was solved".into()));
        };
        if !atom.settled {
            return Err(Failure::Invalid(format!(
                "the orbitals did not settle in {} rounds",
                atom.rounds
            )));
        }
        let error = (atom.virial - 2.0).abs();
        if error > LARGEST_VIRIAL_ERROR || error.is_nan() {
            return Err(Failure::Invalid(format!(
                "the virial quotient is {}, and must be 2",
                atom.virial
            )));
        }
        let checksum = checksum(atom);
        if checksum.wrapping_mul(operations) != returned {
            return Err(Failure::Invalid(
                "one atom was solved to different energies".into(),
            ));
        }
        Ok(checksum)
    }
}

fn checksum(atom: &Atom) -> u64 {
    let energies = atom.orbitals.iter().chain([&atom.energy]);
    of_words(energies.map(|energy| energy.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_atoms_and_a_wrong_solution_is_noticed() {
        let solve = |symbol| Solve {
            charge: element::charge(symbol).unwrap(),
            shells: element::shells(symbol).unwrap(),
            last: None,
        };
        let mut helium = solve("He");
        let returned = helium.batch(2);
        let sum = helium.verify(2, returned).unwrap();
        let mut beryllium = solve("Be");
        let returned = beryllium.batch(1);
        assert_ne!(beryllium.verify(1, returned), Ok(sum));
        helium.last.as_mut().unwrap().virial = 1.9;
        assert!(matches!(helium.verify(2, 0), Err(Failure::Invalid(_))));
    }
}
