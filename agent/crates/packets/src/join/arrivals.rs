//! A flow's arrivals in their order, each beside the record of its sending.

use super::blocks::{length_of, number_of, time_of, Block};
use super::spread::Delays;
use super::Clocks;
use schemars::JsonSchema;
use serde::Serialize;

/// The receiver's side of a flow. Times of delays are in s.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Arrivals {
    /// Packets that came, each counted once.
    pub packets: u64,
    /// Arrivals beyond the first of a sequence.
    copies: u64,
    /// First copies that came behind a later sequence (RFC 4737, section 3.3).
    reordered: u64,
    /// Arrivals of sequences that the sender did not write down; they are left out.
    unsent: u64,
    /// Payload that came, each packet once.
    bytes: u64,
    /// The earliest arrival, its sequence and its payload; none without arrivals.
    first_ns: Option<i64>,
    first_sequence: u64,
    first_bytes: u16,
    last_ns: i64,
    total: f64,
    minimum: f64,
    maximum: f64,
    /// Sum of the absolute differences of delays that follow each other.
    steps: f64,
    /// The smoothed jitter of RFC 3550, section 6.4.1, after the last arrival.
    jitter: f64,
}

/// Finds the record of a sequence; those requested one after the other mostly share a block.
struct Finder<'a> {
    blocks: &'a [Block<'a>],
    at: usize,
}

impl<'a> Finder<'a> {
    /// The record of a sequence and the base of its times; none if the sender has none.
    #[inline]
    fn find(&mut self, sequence: u64) -> Option<(&'a [u8; 16], u64)> {
        let block = &self.blocks[self.at];
        if let Some(record) = block
            .records
            .get(sequence.wrapping_sub(block.base_sequence) as usize)
        {
            return Some((record, block.base_ns));
        }
        self.find_elsewhere(sequence)
    }

    #[cold]
    fn find_elsewhere(&mut self, sequence: u64) -> Option<(&'a [u8; 16], u64)> {
        let after = self.blocks.partition_point(|b| b.base_sequence <= sequence);
        self.at = after.checked_sub(1)?;
        let block = &self.blocks[self.at];
        let place = usize::try_from(sequence - block.base_sequence).ok()?;
        Some((block.records.get(place)?, block.base_ns))
    }
}

/// Joins the arrivals with what was sent, and compares their blocks with the checksums.
pub fn arrivals(
    sent: &[Block],
    received: &[Block],
    clocks: Option<&Clocks>,
    delays: &mut Delays,
) -> Result<Arrivals, String> {
    let mut found = Arrivals {
        last_ns: i64::MIN,
        minimum: f64::INFINITY,
        maximum: f64::NEG_INFINITY,
        ..Arrivals::default()
    };
    let mut finder = Finder {
        blocks: sent,
        at: 0,
    };
    let mut next = 0;
    let mut before = None;
    for block in received {
        block.check()?;
        for record in block.records {
            let sequence = block
                .base_sequence
                .wrapping_add_signed(i64::from(number_of(record) as i32));
            let Some((departure, base_ns)) =
                (!sent.is_empty()).then(|| finder.find(sequence)).flatten()
            else {
                found.unsent += 1;
                continue;
            };
            // Sequences beyond all before cannot have come yet.
            if sequence < next {
                if delays.has(sequence) {
                    found.copies += 1;
                    continue;
                }
                found.reordered += 1;
            } else {
                next = sequence + 1;
            }
            let left = base_ns
                .wrapping_add(time_of(departure))
                .wrapping_add(u64::from(number_of(departure))) as i64;
            let came = block.base_ns.wrapping_add(time_of(record)) as i64;
            let apart = clocks.map_or(0.0, |clocks| clocks.at(left));
            let delay = (came.wrapping_sub(left) as f64 - apart) * 1e-9;
            let length = length_of(departure);
            found.add(came, sequence, length);
            found.add_delay(delay, before.replace(delay));
            delays.add(sequence, delay);
        }
    }
    Ok(found)
}

impl Arrivals {
    #[inline]
    fn add(&mut self, came: i64, sequence: u64, length: u16) {
        if self.first_ns.is_none_or(|first| came < first) {
            self.first_ns = Some(came);
            self.first_sequence = sequence;
            self.first_bytes = length;
        }
        self.last_ns = self.last_ns.max(came);
        self.packets += 1;
        self.bytes += u64::from(length);
    }

    #[inline]
    fn add_delay(&mut self, delay: f64, before: Option<f64>) {
        self.total += delay;
        self.minimum = self.minimum.min(delay);
        self.maximum = self.maximum.max(delay);
        if let Some(before) = before {
            let step = (delay - before).abs();
            self.steps += step;
            self.jitter += (step - self.jitter) / 16.0;
        }
    }
}
