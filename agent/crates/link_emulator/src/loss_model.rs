//! What happens by chance on the line: losses, and other events with a given share.
//!
//! Each kind of event draws from a stream of its own, one number a frame, so the fate of the n-th
//! frame depends on the seed and on n alone.

use super::profile::{Jitter, Loss};
use pentathlon_packets::model::Sampler;
use rand_distr::{Distribution, Uniform};
use rand_pcg::Pcg64;

/// Even numbers from 0 to 1.
pub struct Dice {
    random: Pcg64,
    even: Uniform<f64>,
}

impl Dice {
    pub fn new(seed: u64, stream: u64) -> Self {
        Self {
            random: Pcg64::new(u128::from(seed), u128::from(stream)),
            even: Uniform::new(0.0, 1.0).expect("a range that is not empty"),
        }
    }

    #[inline]
    pub fn number(&mut self) -> f64 {
        self.even.sample(&mut self.random)
    }

    #[inline]
    pub fn falls(&mut self, share: f64) -> bool {
        self.number() < share
    }
}

/// Decides which frames are lost.
pub struct Losses {
    loss: Loss,
    bad: bool,
    change: Dice,
    lose: Dice,
}

impl Losses {
    /// Starts in the good state.
    pub fn new(loss: Loss, seed: u64, stream: u64) -> Self {
        Self {
            loss,
            bad: false,
            change: Dice::new(seed, stream),
            lose: Dice::new(seed, stream + 1),
        }
    }

    pub fn loses(&mut self) -> bool {
        match self.loss {
            Loss::None => false,
            Loss::Random { share } => self.lose.falls(share),
            Loss::Gilbert {
                p,
                r,
                loss_good,
                loss_bad,
            } => {
                let lost = self.lose.falls(if self.bad { loss_bad } else { loss_good });
                let changes = self.change.falls(if self.bad { r } else { p });
                self.bad ^= changes;
                lost
            }
        }
    }
}

/// Draws what is added to each frame's delay, ns.
pub enum Deviations {
    Model(Sampler),
    Table { quantiles: Vec<f64>, dice: Dice },
}

impl Deviations {
    pub fn new(jitter: &Jitter, seed: u64, stream: u64) -> Result<Self, String> {
        Ok(match jitter {
            Jitter::Model(model) => Self::Model(Sampler::new(model, seed, stream)?),
            Jitter::Table { quantiles } => Self::Table {
                quantiles: quantiles.clone(),
                dice: Dice::new(seed, stream),
            },
        })
    }

    #[inline]
    pub fn draw_ns(&mut self) -> f64 {
        let milliseconds = match self {
            Self::Model(sampler) => sampler.draw(),
            Self::Table { quantiles, dice } => {
                let place = dice.number() * (quantiles.len() - 1) as f64;
                let (low, part) = (place as usize, place.fract());
                quantiles[low] + part * (quantiles[low + 1] - quantiles[low])
            }
        };
        milliseconds * 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(loss: Loss, count: usize) -> Vec<bool> {
        let mut losses = Losses::new(loss, 7, 0);
        (0..count).map(|_| losses.loses()).collect()
    }

    fn share(lost: &[bool]) -> f64 {
        lost.iter().filter(|&&lost| lost).count() as f64 / lost.len() as f64
    }

    #[test]
    fn gilberts_line_loses_its_stationary_share_in_bursts() {
        let (p, r, loss_good, loss_bad) = (0.002, 0.1, 0.001, 0.6);
        let found = lost(
            Loss::Gilbert {
                p,
                r,
                loss_good,
                loss_bad,
            },
            2_000_000,
        );
        let bad = p / (p + r);
        let expected = bad * loss_bad + (1.0 - bad) * loss_good;
        assert!(
            (share(&found) / expected - 1.0).abs() < 0.03,
            "{}",
            share(&found)
        );
        // A loss is followed by a loss if the line was bad and stays so, or was good and ...
        let after: Vec<bool> = found
            .windows(2)
            .filter(|pair| pair[0])
            .map(|pair| pair[1])
            .collect();
        let was_bad = bad * loss_bad / expected;
        let still = |stays_bad: f64| stays_bad * loss_bad + (1.0 - stays_bad) * loss_good;
        let again = was_bad * still(1.0 - r) + (1.0 - was_bad) * still(p);
        assert!((share(&after) / again - 1.0).abs() < 0.03);
        assert!(again > 10.0 * expected, "losses come in bursts");
    }

    #[test]
    fn random_losses_do_not_know_of_each_other() {
        let found = lost(Loss::Random { share: 0.05 }, 1_000_000);
        assert!((share(&found) / 0.05 - 1.0).abs() < 0.02);
        let after: Vec<bool> = found
            .windows(2)
            .filter(|pair| pair[0])
            .map(|pair| pair[1])
            .collect();
        assert!((share(&after) / 0.05 - 1.0).abs() < 0.1);
    }

    #[test]
    fn a_table_gives_its_quantiles_back() {
        let quantiles = vec![-4.0, -1.0, 0.0, 1.0, 12.0];
        let jitter = Jitter::Table {
            quantiles: quantiles.clone(),
        };
        let mut deviations = Deviations::new(&jitter, 3, 0).unwrap();
        let mut drawn: Vec<f64> = (0..200_000).map(|_| deviations.draw_ns() / 1e6).collect();
        drawn.sort_by(f64::total_cmp);
        for (place, expected) in [(0.25, -1.0), (0.5, 0.0), (0.75, 1.0), (0.875, 6.5)] {
            let found = drawn[(place * drawn.len() as f64) as usize];
            assert!((found - expected).abs() < 0.2, "{place}: {found}");
        }
        assert!(drawn[0] >= -4.0 && *drawn.last().unwrap() <= 12.0);
    }

    #[test]
    fn a_seed_decides() {
        let loss = Loss::Random { share: 0.5 };
        let take = |seed| {
            let mut losses = Losses::new(loss, seed, 0);
            (0..64).map(|_| losses.loses()).collect::<Vec<_>>()
        };
        assert_eq!(take(1), take(1));
        assert_ne!(take(1), take(2));
    }
}
