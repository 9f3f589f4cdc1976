//! What a flow's sender wrote down, in the order of its sequences.

use super::blocks::{number_of, time_of, Block};
use super::spread::rank;
use schemars::JsonSchema;
use serde::Serialize;

/// Latenesses below are counted, those above are kept.
const SOON_NS: usize = 1 << 14;

/// The sender's side of a flow.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Departures {
    packets: u64,
    /// Intended times of the first and of the last packet; none without packets.
    intended_ns: Option<(u64, u64)>,
    /// When these two left.
    sent_ns: Option<(u64, u64)>,
    /// The latenesses at the shares requested; none where there are too few packets.
    late_ns: Vec<Option<u32>>,
    latest_ns: u32,
}

/// Goes through the blocks, which must be in order, and compares them with their checksums.
pub fn departures(blocks: &[Block], shares: &[f64]) -> Result<Departures, String> {
    let mut soon = vec![0_u64; SOON_NS];
    let mut later = Vec::new();
    let mut packets = 0;
    for block in blocks {
        block.check()?;
        packets += block.records.len() as u64;
        for record in block.records {
            let late = number_of(record);
            match soon.get_mut(late as usize) {
                Some(count) => *count += 1,
                None => later.push(late),
            }
        }
    }
    let mut ends = blocks.iter().filter(|block| !block.records.is_empty());
    let first = ends.next();
    let last = ends.next_back().or(first);
    let times = |block: &Block, record: Option<&[u8; 16]>| {
        let record = record.expect("blocks without records are left out");
        let intended = block.base_ns.wrapping_add(time_of(record));
        (
            intended,
            intended.wrapping_add(u64::from(number_of(record))),
        )
    };
    let ends = first.zip(last).map(|(first, last)| {
        (
            times(first, first.records.first()),
            times(last, last.records.last()),
        )
    });
    let latest = later.iter().copied().max();
    Ok(Departures {
        packets,
        intended_ns: ends.map(|(first, last)| (first.0, last.0)),
        sent_ns: ends.map(|(first, last)| (first.1, last.1)),
        latest_ns: latest.unwrap_or(soon.iter().rposition(|&n| n > 0).unwrap_or(0) as u32),
        late_ns: shares
            .iter()
            .map(|&share| Some(ranked(&soon, &mut later, rank(packets, share)?)))
            .collect(),
    })
}

/// The lateness at a place of all in order.
fn ranked(soon: &[u64], later: &mut [u32], place: u64) -> u32 {
    let mut before = 0;
    for (late, count) in soon.iter().enumerate() {
        before += count;
        if before > place {
            return late as u32;
        }
    }
    *later.select_nth_unstable((place - before) as usize).1
}
