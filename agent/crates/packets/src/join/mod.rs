//! The records of both ends of one flow, joined by sequence in one pass over the files. Sums,
//! counts and values at ranks come out, from which the experimenter makes the flow's table; for
//! few records it joins them itself.

mod arrivals;
mod blocks;
mod departures;
#[cfg(test)]
mod hostile;
mod spread;

use arrivals::Arrivals;
use blocks::Block;
use departures::Departures;
use pentathlon_os::disk::map::{boundary, Map};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spread::{Delays, Spread};
use std::fs::File;
use std::path::PathBuf;

/// What is requested.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "JoinRequest")]
pub struct Request {
    /// Files of records, which nobody may change in the meantime.
    sent: PathBuf,
    received: PathBuf,
    /// How the receiver's timer differs from the sender's; without it delays hold that difference.
    #[serde(default)]
    clocks: Option<Clocks>,
    /// Shares of the delays, and of the latenesses, whose quantiles are requested.
    #[serde(default)]
    delay_shares: Vec<f64>,
    #[serde(default)]
    late_shares: Vec<f64>,
}

/// Receiver's timer minus sender's timer, as a line over the sender's time.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clocks {
    origin_ns: i64,
    offset_ns: f64,
    drift: f64,
}

impl Clocks {
    /// The difference at a time of the sender, ns.
    #[inline]
    fn at(&self, sender_ns: i64) -> f64 {
        self.offset_ns + self.drift * (sender_ns.wrapping_sub(self.origin_ns) as f64)
    }
}

/// What a flow's records report.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Joined {
    sent: Departures,
    received: Arrivals,
    /// None where nothing came.
    delays: Option<Spread>,
}

/// Sequences that are numbered for each record that was written: the others were lost because their
/// writer was behind. Memory is taken for each, so that a forged number takes no more than this.
const SEQUENCES_A_RECORD: u64 = 64;

/// Joins two files; the reason if one of them is damaged or cannot be read.
pub fn join(request: &Request) -> Result<Joined, String> {
    let files = [&request.sent, &request.received].map(|path| {
        File::open(path).map_err(|e| format!("{} cannot be read: {e}", path.display()))
    });
    let [sent, received] = files;
    let (sent, received) = (sent?, received?);
    let (sent, received) = (mapped(&sent)?, mapped(&received)?);
    let sent = sent.as_ref().map_or(&[][..], |map| map.bytes());
    let received = received.as_ref().map_or(&[][..], |map| map.bytes());
    joined(&blocks::blocks(sent)?, &blocks::blocks(received)?, request)
}

fn mapped(file: &File) -> Result<Option<Map<'_>>, String> {
    let length = file.metadata().map_err(|e| e.to_string())?.len() as usize;
    (length > 0)
        .then(|| Map::new(file, 0, length, false, boundary()).map_err(|e| e.to_string()))
        .transpose()
}

fn joined(sent: &[Block], received: &[Block], request: &Request) -> Result<Joined, String> {
    if sent
        .windows(2)
        .any(|two| two[1].base_sequence < two[0].end())
    {
        return Err("the sender's records are not in the order of their sequences".into());
    }
    if let Some(last) = sent.last() {
        // Its sequences say how much memory is needed.
        last.check()?;
        let records: u64 = sent.iter().map(|block| block.records.len() as u64).sum();
        if last.end() > records.saturating_mul(SEQUENCES_A_RECORD) {
            return Err(format!(
                "the sender's {records} records have sequences up to {}, so nearly all of its \
                 records are missing",
                last.end()
            ));
        }
    }
    let mut delays = Delays::new(sent.last().map_or(0, Block::end));
    let (departures, arrivals) = std::thread::scope(|scope| {
        let departures = scope.spawn(|| departures::departures(sent, &request.late_shares));
        let arrivals = arrivals::arrivals(sent, received, request.clocks.as_ref(), &mut delays);
        (departures.join().expect("it only reads"), arrivals)
    });
    let (departures, arrivals) = (departures?, arrivals?);
    let any = arrivals.packets > 0;
    Ok(Joined {
        sent: departures,
        received: arrivals,
        delays: any.then(|| delays.spread(&request.delay_shares)),
    })
}
