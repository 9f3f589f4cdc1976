//! L. Verlet's lists of neighbours: the pairs within the cutoff and a skin, found through cells,
//! and found anew when an atom may have crossed the skin.

use super::system::nearest;

/// How much further than the cutoff the lists reach.
const SKIN: f64 = 0.3;

#[derive(Debug, Clone)]
pub struct Neighbours {
    reach: f64,
    edge: f64,
    /// Where the atoms were when the lists were made.
    made_at: Vec<[f64; 3]>,
    starts: Vec<u32>,
    /// The neighbours with a higher number, atom after atom.
    others: Vec<u32>,
    rebuilds: u64,
}

impl Neighbours {
    /// Lists in a periodic box of `edge`, which is at least twice the cutoff.
    pub fn new(cutoff: f64, edge: f64) -> Self {
        assert!(edge >= 2.0 * cutoff, "the box holds a sphere of the cutoff");
        Self {
            reach: (cutoff + SKIN).min(edge / 2.0),
            edge,
            made_at: Vec::new(),
            starts: Vec::new(),
            others: Vec::new(),
            rebuilds: 0,
        }
    }

    #[cfg(test)]
    pub fn rebuilds(&self) -> u64 {
        self.rebuilds
    }

    /// For each atom, the others within reach that have a higher number.
    pub fn lists(&self) -> impl Iterator<Item = &[u32]> {
        let bounds = self.starts.windows(2);
        bounds.map(|bounds| &self.others[bounds[0] as usize..bounds[1] as usize])
    }

    /// Makes the lists if two atoms can have come closer by the skin.
    pub fn refresh(&mut self, positions: &[[f64; 3]]) {
        let limit = SKIN / 2.0 * (SKIN / 2.0);
        let moved = |(now, then): (&[f64; 3], &[f64; 3])| {
            let squared: f64 = (0..3)
                .map(|i| (now[i] - then[i]) * (now[i] - then[i]))
                .sum();
            squared >= limit
        };
        if self.made_at.len() != positions.len() || positions.iter().zip(&self.made_at).any(moved) {
            self.build(positions);
        }
    }

    fn build(&mut self, positions: &[[f64; 3]]) {
        self.rebuilds += 1;
        self.made_at = positions.to_vec();
        self.starts.clear();
        self.others.clear();
        let cells = Cells::new(positions, self.edge, self.reach);
        let limit = self.reach * self.reach;
        for (a, here) in positions.iter().enumerate() {
            self.starts.push(self.others.len() as u32);
            cells.around(here, |b| {
                if b as usize > a {
                    let there = positions[b as usize];
                    let squared: f64 = (0..3)
                        .map(|i| nearest(here[i] - there[i], self.edge))
                        .map(|d| d * d)
                        .sum();
                    if squared < limit {
                        self.others.push(b);
                    }
                }
            });
        }
        self.starts.push(self.others.len() as u32);
    }
}

/// The box cut into cells no smaller than the reach, so that only adjacent ones matter.
struct Cells {
    edge: f64,
    side: usize,
    starts: Vec<u32>,
    atoms: Vec<u32>,
}

impl Cells {
    fn new(positions: &[[f64; 3]], edge: f64, reach: f64) -> Self {
        // Below three cells a side the neighbours on both sides would be the same cell.
        let side = match (edge / reach) as usize {
            0..=2 => 1,
            side => side,
        };
        let mut cells = Self {
            edge,
            side,
            starts: vec![0; side * side * side + 1],
            atoms: vec![0; positions.len()],
        };
        for position in positions {
            let cell = cells.index(cells.place(position));
            cells.starts[cell + 1] += 1;
        }
        for cell in 1..cells.starts.len() {
            cells.starts[cell] += cells.starts[cell - 1];
        }
        let mut next = cells.starts.clone();
        for (atom, position) in (0u32..).zip(positions) {
            let cell = cells.index(cells.place(position));
            cells.atoms[next[cell] as usize] = atom;
            next[cell] += 1;
        }
        cells
    }

    fn place(&self, position: &[f64; 3]) -> [usize; 3] {
        position.map(|x| {
            let share = x / self.edge;
            let folded = share - share.floor();
            ((folded * self.side as f64) as usize).min(self.side - 1)
        })
    }

    fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        (x * self.side + y) * self.side + z
    }

    /// Every atom in the cell of `position` and in those around it.
    fn around(&self, position: &[f64; 3], mut visit: impl FnMut(u32)) {
        let [x, y, z] = self.place(position);
        let steps: &[usize] = if self.side == 1 {
            &[0]
        } else {
            &[self.side - 1, 0, 1]
        };
        for dx in steps {
            for dy in steps {
                for dz in steps {
                    let cell = self.index([
                        (x + dx) % self.side,
                        (y + dy) % self.side,
                        (z + dz) % self.side,
                    ]);
                    let bounds = self.starts[cell] as usize..self.starts[cell + 1] as usize;
                    for &atom in &self.atoms[bounds] {
                        visit(atom);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_harness::Random;

    #[test]
    fn the_lists_hold_every_pair_within_reach_once() {
        for (edge, atoms) in [(6.0, 120), (9.0, 300), (14.0, 500)] {
            let mut random = Random::new(4);
            // Some atoms have left the box.
            let positions: Vec<_> = (0..atoms)
                .map(|_| [0; 3].map(|_| (random.unit() * 3.0 - 1.0) * edge))
                .collect();
            let mut neighbours = Neighbours::new(2.5, edge);
            neighbours.refresh(&positions);
            let mut found = std::collections::BTreeSet::new();
            for (a, others) in neighbours.lists().enumerate() {
                for &b in others {
                    assert!(found.insert((a, b as usize)), "a pair is listed twice");
                }
            }
            for a in 0..positions.len() {
                for b in a + 1..positions.len() {
                    let squared: f64 = (0..3)
                        .map(|i| nearest(positions[a][i] - positions[b][i], edge))
                        .map(|d| d * d)
                        .sum();
                    assert_eq!(found.contains(&(a, b)), squared < 2.8 * 2.8, "{a} {b}");
                }
            }
        }
    }
}
