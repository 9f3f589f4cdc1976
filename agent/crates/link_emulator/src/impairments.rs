//! The way from the line's near end to its far end.

use super::loss_model::{Deviations, Dice, Losses};
use super::profile::Way;

/// What becomes of a frame on its way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fate {
    Lost,
    Arrives {
        at_ns: u64,
        twice: bool,
        ahead: bool,
    },
}

/// Streams of the random numbers of one direction.
pub const STREAMS: u64 = 8;

pub struct Impairments {
    delay_ns: f64,
    deviations: Option<Deviations>,
    keep_order: bool,
    reorder: f64,
    duplicate: f64,
    losses: Losses,
    goes_ahead: Dice,
    comes_twice: Dice,
    last_ns: f64,
}

impl Impairments {
    /// `direction`: which of the line's two, so that they draw different numbers.
    pub fn new(way: &Way, seed: u64, direction: u64) -> Result<Self, String> {
        let stream = direction * STREAMS;
        let deviations = way.jitter.as_ref();
        Ok(Self {
            delay_ns: way.delay_ns as f64,
            deviations: deviations
                .map(|jitter| Deviations::new(jitter, seed, stream))
                .transpose()?,
            keep_order: way.keep_order,
            reorder: way.reorder,
            duplicate: way.duplicate,
            losses: Losses::new(way.loss, seed, stream + 1),
            goes_ahead: Dice::new(seed, stream + 3),
            comes_twice: Dice::new(seed, stream + 4),
            last_ns: 0.0,
        })
    }

    /// A frame whose last bit has left at `left_ns`.
    pub fn carry(&mut self, left_ns: f64) -> Fate {
        // Each frame takes a number of every stream, whatever becomes of it.
        let lost = self.losses.loses();
        let deviation_ns = self.deviations.as_mut().map_or(0.0, Deviations::draw_ns);
        let ahead = self.goes_ahead.falls(self.reorder);
        let twice = self.comes_twice.falls(self.duplicate);
        if lost {
            return Fate::Lost;
        }
        let mut at_ns = left_ns;
        if !ahead {
            at_ns += (self.delay_ns + deviation_ns).max(0.0);
            if self.keep_order {
                at_ns = at_ns.max(self.last_ns);
            }
            self.last_ns = self.last_ns.max(at_ns);
        }
        Fate::Arrives {
            at_ns: at_ns as u64,
            twice,
            ahead,
        }
    }

    /// No frame arrives sooner than so long after it has left.
    pub fn least_ns(&self) -> f64 {
        if self.deviations.is_some() || self.reorder > 0.0 {
            0.0
        } else {
            self.delay_ns
        }
    }
}
