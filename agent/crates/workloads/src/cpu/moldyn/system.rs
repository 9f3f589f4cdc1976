//! Atoms in a periodic box that attract and repel each other by the potential of J. E.
//! Lennard-Jones, moved by the velocity form of L. Verlet's method (Physical Review 159, 1967;
//! W. C. Swope et al., Journal of Chemical Physics 76, 1982). Reduced units: lengths in σ, energies
//! in ε, masses in that of an atom. Only sums, products, quotients and square roots in a fixed
//! order, so the same bits come out on every processor.

use super::neighbours::Neighbours;

/// The state of a simulation.
#[derive(Debug, Clone)]
pub struct System {
    /// Edge of the cubic box.
    pub edge: f64,
    pub positions: Vec<[f64; 3]>,
    pub velocities: Vec<[f64; 3]>,
    pub forces: Vec<[f64; 3]>,
    pub potential: f64,
    potential_form: Potential,
    neighbours: Neighbours,
}

/// Lennard-Jones up to a cutoff, shifted so that force and energy both end at 0 there; so the
/// energy is conserved but for the steps' own error.
#[derive(Debug, Clone, Copy)]
pub struct Potential {
    pub cutoff: f64,
    energy_at_cutoff: f64,
    force_at_cutoff: f64,
}

impl Potential {
    pub fn new(cutoff: f64) -> Self {
        let (energy, force) = plain(cutoff);
        Self {
            cutoff,
            energy_at_cutoff: energy,
            force_at_cutoff: force,
        }
    }

    /// Energy and force over distance at a squared distance within the cutoff.
    #[inline]
    fn at(&self, squared: f64) -> (f64, f64) {
        let distance = squared.sqrt();
        let inverse = 1.0 / squared;
        let six = inverse * inverse * inverse;
        let energy = 4.0 * six * (six - 1.0) - self.energy_at_cutoff
            + (distance - self.cutoff) * self.force_at_cutoff;
        let force = 24.0 * six * (2.0 * six - 1.0) * inverse - self.force_at_cutoff / distance;
        (energy, force)
    }
}

/// The unshifted energy and force at a distance.
fn plain(distance: f64) -> (f64, f64) {
    let six = 1.0 / (distance * distance * distance * distance * distance * distance);
    (
        4.0 * six * (six - 1.0),
        24.0 * six * (2.0 * six - 1.0) / distance,
    )
}

impl System {
    /// A crystal (face-centred cubic, four atoms a cell) of `cells`³ cells at `density` atoms per
    /// σ³, its atoms in seeded random motion at `temperature` (ε per Boltzmann's constant), their
    /// common motion taken off.
    pub fn crystal(
        cells: usize,
        density: f64,
        temperature: f64,
        potential: Potential,
        seed: u64,
    ) -> Self {
        let cell = super::super::math::cube_root(4.0 / density);
        let edge = cell * cells as f64;
        let corners = [
            [0.0, 0.0, 0.0],
            [0.0, 0.5, 0.5],
            [0.5, 0.0, 0.5],
            [0.5, 0.5, 0.0],
        ];
        let mut positions = Vec::with_capacity(4 * cells * cells * cells);
        for x in 0..cells {
            for y in 0..cells {
                for z in 0..cells {
                    for corner in corners {
                        let at = [x, y, z];
                        positions.push([0, 1, 2].map(|i| (at[i] as f64 + corner[i]) * cell));
                    }
                }
            }
        }
        let velocities = thermal(positions.len(), temperature, seed);
        let mut system = Self {
            edge,
            forces: vec![[0.0; 3]; positions.len()],
            neighbours: Neighbours::new(potential.cutoff, edge),
            positions,
            velocities,
            potential: 0.0,
            potential_form: potential,
        };
        system.compute_forces();
        system
    }

    pub fn atoms(&self) -> usize {
        self.positions.len()
    }

    pub fn kinetic(&self) -> f64 {
        let squares = self.velocities.iter().flatten().map(|v| v * v);
        0.5 * squares.sum::<f64>()
    }

    pub fn energy(&self) -> f64 {
        self.kinetic() + self.potential
    }

    pub fn momentum(&self) -> [f64; 3] {
        [0, 1, 2].map(|i| self.velocities.iter().map(|v| v[i]).sum())
    }

    /// Times that the lists of neighbours were made.
    #[cfg(test)]
    pub fn rebuilds(&self) -> u64 {
        self.neighbours.rebuilds()
    }

    /// One time step of `dt` (in √(mσ²/ε), 2.15 ps for argon).
    pub fn step(&mut self, dt: f64) {
        let half = 0.5 * dt;
        for ((x, v), f) in self
            .positions
            .iter_mut()
            .zip(&mut self.velocities)
            .zip(&self.forces)
        {
            for i in 0..3 {
                v[i] += half * f[i];
                x[i] += dt * v[i];
            }
        }
        self.compute_forces();
        for (v, f) in self.velocities.iter_mut().zip(&self.forces) {
            for i in 0..3 {
                v[i] += half * f[i];
            }
        }
    }

    fn compute_forces(&mut self) {
        self.neighbours.refresh(&self.positions);
        self.forces.fill([0.0; 3]);
        let (edge, form) = (self.edge, self.potential_form);
        let limit = form.cutoff * form.cutoff;
        let mut potential = 0.0;
        for (a, others) in self.neighbours.lists().enumerate() {
            let here = self.positions[a];
            let mut force = [0.0; 3];
            for &b in others {
                let there = self.positions[b as usize];
                let apart = [0, 1, 2].map(|i| nearest(here[i] - there[i], edge));
                let squared = apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2];
                if squared < limit {
                    let (energy, strength) = form.at(squared);
                    potential += energy;
                    let reaction = &mut self.forces[b as usize];
                    for i in 0..3 {
                        force[i] += strength * apart[i];
                        reaction[i] -= strength * apart[i];
                    }
                }
            }
            for (sum, part) in self.forces[a].iter_mut().zip(force) {
                *sum += part;
            }
        }
        self.potential = potential;
    }
}

/// A difference of coordinates to the nearest image. Atoms are not folded back into the box, so
/// the difference may be several edges; adding and subtracting 1.5·2^52 rounds to an integer.
#[inline]
pub fn nearest(difference: f64, edge: f64) -> f64 {
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let images = (difference / edge + ROUND) - ROUND;
    difference - images * edge
}

/// Velocities of a temperature: sums of twelve uniform numbers are close to normal and, unlike a
/// logarithm, have the same bits everywhere.
fn thermal(atoms: usize, temperature: f64, seed: u64) -> Vec<[f64; 3]> {
    let mut random = pentathlon_harness::Random::new(seed);
    let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
    let mut velocities: Vec<_> = (0..atoms).map(|_| [normal(), normal(), normal()]).collect();
    let count = atoms as f64;
    let mean = [0, 1, 2].map(|i| velocities.iter().map(|v| v[i]).sum::<f64>() / count);
    let mut squares = 0.0;
    for v in &mut velocities {
        for i in 0..3 {
            v[i] -= mean[i];
            squares += v[i] * v[i];
        }
    }
    // The three degrees of freedom of the common motion are gone.
    let factor = ((3.0 * count - 3.0) * temperature / squares).sqrt();
    for v in velocities.iter_mut().flatten() {
        *v *= factor;
    }
    velocities
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argon(cells: usize, seed: u64) -> System {
        System::crystal(cells, 0.8072, 0.787, Potential::new(2.5), seed)
    }

    #[test]
    fn the_energy_of_a_crystal_is_the_sum_over_its_shells() {
        // Shells of the face-centred cubic lattice: neighbours at √(n/2) edges of the cell
        // (C. Kittel, Introduction to Solid State Physics).
        let shells = [12.0, 6.0, 24.0, 12.0, 24.0, 8.0, 48.0, 6.0, 36.0, 24.0];
        for (density, cutoff) in [(0.8072, 2.5), (1.09, 2.2), (0.9, 3.0)] {
            let form = Potential::new(cutoff);
            let system = System::crystal(5, density, 0.5, form, 1);
            let cell = (4.0f64 / density).cbrt();
            let mut expected = 0.0;
            for (n, count) in shells.iter().enumerate() {
                let squared = cell * cell * (n + 1) as f64 / 2.0;
                if squared < cutoff * cutoff {
                    expected += 0.5 * count * form.at(squared).0;
                }
            }
            let energy = system.potential / system.atoms() as f64;
            assert!((energy - expected).abs() < 1e-9, "{energy} {expected}");
            // A crystal pulls no atom anywhere.
            assert!(system.forces.iter().flatten().all(|f| f.abs() < 1e-9));
        }
    }

    #[test]
    fn the_force_is_the_slope_of_the_energy_and_both_end_at_the_cutoff() {
        let form = Potential::new(2.5);
        for distance in [0.9, 1.0, 1.122_462, 1.5, 2.4999] {
            let h = 1e-6;
            let energy = |d: f64| form.at(d * d).0;
            let slope = (energy(distance + h) - energy(distance - h)) / (2.0 * h);
            let force = form.at(distance * distance).1 * distance;
            assert!(
                (slope + force).abs() < 1e-5 * (1.0 + force.abs()),
                "{distance}"
            );
        }
        let (energy, force) = form.at(2.5 * 2.5);
        assert!(energy.abs() < 1e-15 && force.abs() < 1e-15);
        // The unshifted well: −ε at the sixth root of 2.
        let (well, slope) = plain(2f64.powf(1.0 / 6.0));
        assert!((well + 1.0).abs() < 1e-12 && slope.abs() < 1e-12);
    }

    #[test]
    fn energy_and_momentum_are_conserved_and_the_crystal_melts() {
        let mut system = argon(4, 3);
        let before = system.energy();
        let temperature = 2.0 * system.kinetic() / (3.0 * system.atoms() as f64 - 3.0);
        assert!((temperature - 0.787).abs() < 1e-12);
        for _ in 0..400 {
            system.step(0.004);
        }
        let drift = (system.energy() - before).abs() / system.atoms() as f64;
        assert!(drift < 1e-3, "{drift}");
        assert!(system.momentum().iter().all(|p| p.abs() < 1e-9));
        assert!(system.rebuilds() > 1);
        // Half of the motion's energy went into the melting lattice.
        assert!(system.kinetic() < 0.8 * 1.5 * 0.787 * system.atoms() as f64);
    }

    #[test]
    fn a_shorter_step_conserves_energy_better_by_its_square() {
        let drift = |dt: f64, steps: usize| {
            let mut system = argon(3, 9);
            let before = system.energy();
            let mut worst = 0.0f64;
            for _ in 0..steps {
                system.step(dt);
                worst = worst.max((system.energy() - before).abs());
            }
            worst
        };
        let (coarse, fine) = (drift(0.008, 50), drift(0.002, 200));
        assert!(coarse > 8.0 * fine, "{coarse} {fine}");
    }

    #[test]
    fn differences_are_taken_to_the_nearest_image() {
        for (difference, expected) in [(0.4, 0.4), (0.6, -0.4), (-0.6, 0.4), (3.2, 0.2)] {
            assert!((nearest(difference, 1.0) - expected).abs() < 1e-12);
        }
    }
}
