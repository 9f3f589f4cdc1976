//! The elements from hydrogen to xenon with the configurations of their ground states (NIST Atomic
//! Spectra Database).

/// One shell: principal and orbital quantum number, electrons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shell {
    pub n: u32,
    pub l: usize,
    pub electrons: u32,
}

impl Shell {
    pub fn is_full(&self) -> bool {
        self.electrons == 4 * self.l as u32 + 2
    }
}

pub const SYMBOLS: [&str; 54] = [
    "H", "He", "Li", "Be", "B", "C", "N", "O", "F", "Ne", "Na", "Mg", "Al", "Si", "P", "S", "Cl",
    "Ar", "K", "Ca", "Sc", "Ti", "V", "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga", "Ge", "As",
    "Se", "Br", "Kr", "Rb", "Sr", "Y", "Zr", "Nb", "Mo", "Tc", "Ru", "Rh", "Pd", "Ag", "Cd", "In",
    "Sn", "Sb", "Te", "I", "Xe",
];

/// Order in which shells fill (E. Madelung's rule).
const ORDER: [(u32, usize); 11] = [
    (1, 0),
    (2, 0),
    (2, 1),
    (3, 0),
    (3, 1),
    (4, 0),
    (3, 2),
    (4, 1),
    (5, 0),
    (4, 2),
    (5, 1),
];

/// Atoms in which electrons of the outer s shell sit in the d shell: how many.
const MOVED: [(&str, u32); 8] = [
    ("Cr", 1),
    ("Cu", 1),
    ("Nb", 1),
    ("Mo", 1),
    ("Ru", 1),
    ("Rh", 1),
    ("Pd", 2),
    ("Ag", 1),
];

/// The nuclear charge of an element.
pub fn charge(symbol: &str) -> Option<u32> {
    SYMBOLS
        .iter()
        .zip(1..)
        .find(|(s, _)| **s == symbol)
        .map(|(_, charge)| charge)
}

/// The shells of the neutral atom, by orbital and then principal quantum number.
pub fn shells(symbol: &str) -> Option<Vec<Shell>> {
    let mut left = charge(symbol)?;
    let mut shells = Vec::new();
    for (n, l) in ORDER {
        let electrons = left.min(4 * l as u32 + 2);
        left -= electrons;
        if electrons > 0 {
            shells.push(Shell { n, l, electrons });
        }
    }
    if let Some((_, moved)) = MOVED.iter().find(|(s, _)| *s == symbol) {
        let d = shells
            .iter()
            .rposition(|shell| shell.l == 2)
            .expect("a d shell is open");
        let s = shells
            .iter()
            .rposition(|shell| shell.l == 0)
            .expect("every atom has s shells");
        shells[d].electrons += moved;
        shells[s].electrons -= moved;
    }
    shells.retain(|shell| shell.electrons > 0);
    shells.sort_by_key(|shell| (shell.l, shell.n));
    Some(shells)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(symbol: &str) -> String {
        let letter = |l| ["s", "p", "d"][l];
        let shells = shells(symbol).expect("known");
        let words: Vec<_> = shells
            .iter()
            .map(|shell| format!("{}{}{}", shell.n, letter(shell.l), shell.electrons))
            .collect();
        words.join(" ")
    }

    #[test]
    fn configurations_are_the_published_ones() {
        assert_eq!(text("He"), "1s2");
        assert_eq!(text("N"), "1s2 2s2 2p3");
        assert_eq!(text("Cr"), "1s2 2s2 3s2 4s1 2p6 3p6 3d5");
        assert_eq!(text("Pd"), "1s2 2s2 3s2 4s2 2p6 3p6 4p6 3d10 4d10");
        assert_eq!(text("Ag"), "1s2 2s2 3s2 4s2 5s1 2p6 3p6 4p6 3d10 4d10");
    }

    #[test]
    fn every_atom_is_neutral_and_at_most_its_outermost_shells_are_open() {
        for (symbol, charge) in SYMBOLS.iter().zip(1..) {
            let shells = shells(symbol).expect("known");
            assert_eq!(shells.iter().map(|s| s.electrons).sum::<u32>(), charge);
            for pair in shells.windows(2) {
                assert!(pair[0].l != pair[1].l || pair[0].is_full(), "{symbol}");
            }
        }
        assert_eq!(shells("Au"), None);
    }
}
