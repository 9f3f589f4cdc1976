//! What a line is to be, per direction, as the experimenter sends it.

use pentathlon_packets::model::Model;
use schemars::JsonSchema;
use serde::Deserialize;

/// One direction of a line.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// Bits per second; without it, frames take no time on the line.
    #[serde(default)]
    pub rate_bps: Option<f64>,
    /// Bytes that may leave at once after a pause, the depth of a token bucket (RFC 2697 has the
    /// same). 0: each frame leaves when its last bit is on the line.
    #[serde(default)]
    pub burst_bytes: u64,
    /// Bytes that each frame takes on the line beside its own, such as a preamble; negative to
    /// leave some out.
    #[serde(default)]
    pub overhead_bytes: i64,
    /// Propagation delay, from the last bit on the line to its arrival.
    #[serde(default)]
    pub delay_ns: u64,
    #[serde(default)]
    pub jitter: Option<Jitter>,
    /// No frame overtakes another because of the jitter.
    #[serde(default)]
    pub keep_order: bool,
    #[serde(default)]
    pub loss: Loss,
    /// Share of the frames that go ahead: they skip the propagation delay and the jitter.
    #[serde(default)]
    pub reorder: f64,
    /// Share of the frames that arrive twice.
    #[serde(default)]
    pub duplicate: f64,
    pub queue: Queue,
    /// Longest packet in bytes, without the link's header.
    pub mtu_bytes: u32,
}

/// What is added to the propagation delay of each frame, in ms.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Jitter {
    /// Drawn from a distribution; `trace` gives its values in their order.
    Model(Model),
    /// Drawn from the distribution with these quantiles, evenly spaced, straight lines between.
    Table { quantiles: Vec<f64> },
}

/// How frames are lost on the line.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "lowercase", deny_unknown_fields)]
pub enum Loss {
    #[default]
    None,
    /// Each with the same chance, whatever became of the others.
    Random { share: f64 },
    /// Two states (Gilbert 1960, Elliott 1963): after each frame the line goes from good to bad
    /// with the chance `p`, back with `r`, and loses a frame with the chance of its state.
    Gilbert {
        p: f64,
        r: f64,
        loss_good: f64,
        loss_bad: f64,
    },
}

/// The queue before the line. The frame that is on the line is not in it.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    #[serde(default)]
    pub bytes: Option<u64>,
    #[serde(default)]
    pub frames: Option<u64>,
    #[serde(default)]
    pub codel: Option<Target>,
}

/// The two parameters of CoDel (RFC 8289, section 4.3 and 4.4).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CodelTarget")]
pub struct Target {
    pub target_ns: u64,
    pub interval_ns: u64,
}

/// Shortest packet that every line carries (RFC 791: each host takes 576 bytes; we request less).
const LEAST_MTU: u32 = 68;
const MOST_MTU: u32 = 65_535;

impl Way {
    /// One sentence about the first number that cannot be.
    pub fn check(&self) -> Result<(), String> {
        let shares = [("reorder", self.reorder), ("duplicate", self.duplicate)];
        for (name, share) in shares.into_iter().chain(self.loss.shares()) {
            if !(0.0..=1.0).contains(&share) {
                return Err(format!("'{name}' is {share}, it must be from 0 to 1"));
            }
        }
        if let Some(rate) = self.rate_bps.filter(|rate| rate.is_nan() || *rate < 1.0) {
            return Err(format!("'rate_bps' is {rate}, it must be at least 1"));
        }
        if !(LEAST_MTU..=MOST_MTU).contains(&self.mtu_bytes) {
            return Err(format!(
                "'mtu_bytes' is {}, it must be from {LEAST_MTU} to {MOST_MTU}",
                self.mtu_bytes
            ));
        }
        if let Some(Jitter::Table { quantiles }) = &self.jitter {
            let rising = quantiles.windows(2).all(|pair| pair[0] <= pair[1]);
            if quantiles.len() < 2 || !rising || !quantiles.iter().all(|q| q.is_finite()) {
                return Err("'quantiles' must be two or more numbers in rising order".into());
            }
        }
        Ok(())
    }
}

impl Loss {
    fn shares(self) -> Vec<(&'static str, f64)> {
        match self {
            Self::None => vec![],
            Self::Random { share } => vec![("share", share)],
            Self::Gilbert {
                p,
                r,
                loss_good,
                loss_bad,
            } => vec![
                ("p", p),
                ("r", r),
                ("loss_good", loss_good),
                ("loss_bad", loss_bad),
            ],
        }
    }
}
