//! The commands that an endpoint accepts.

use super::jobs::{Order, Work};
use super::program::Program;
use super::router::Tuning;
use pentathlon_packets::flow::{ReceiveFlow, SendFlow};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::IpAddr;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum Command {
    /// Opens the sockets of a trial's receivers; answered by `ready` with their ports.
    Listen(Listen),
    /// Sends the flows of a trial; answered by `sent` when they have ended.
    Send(Send),
    /// Ends the receivers once nothing has come for `quiet_ms`; answered by `received`.
    Finish { trial: String, quiet_ms: u64 },
    /// Hands out the records of a trial: `records` events, each followed by its bytes, and
    /// `fetched`.
    Fetch { trial: String },
    /// Brings an interface up and gives it addresses, such as `198.18.0.1/24`; answered by
    /// `addressed`. For guests, which have nobody else to do it.
    Address {
        interface: String,
        addresses: Vec<Network>,
    },
    /// Sets the clock of a guest after `after_ms`; answered by `clock`. For tests.
    Clock { after_ms: u64, to_ns: u64 },
    /// Switches the forwarding of packets between interfaces; answered by `forwarding`.
    Forward { on: bool },
    /// Sets what the host's forwarding depends on; answered by `tuned`.
    Tune(Tuning),
    /// Starts work in the background under a name; answered by `started`.
    Start { job: String, what: Work },
    /// Cuts or mends an emulated link, or requests its statistics; answered by `line`.
    Order {
        job: String,
        #[cfg_attr(not(target_os = "linux"), schemars(with = "serde_json::Value"))]
        order: Order,
    },
    /// Ends such work; answered by `stopped` with what it yielded.
    Stop { job: String },
    /// Captures every frame of an interface from now on; answered by `capturing`.
    Capture { trial: String, interface: String },
    /// Ends that; answered by `captured`. `fetch` hands the file out.
    Captured { trial: String },
    /// Runs another program to its end; answered by `performed`.
    Perform { program: Program, timeout_s: f64 },
    /// Sets files below /proc/sys; answered by `set` with their values before.
    Set { values: BTreeMap<String, String> },
    /// Ends the endpoint; answered by `done`.
    Quit {},
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listen {
    pub trial: String,
    pub session: Session,
    /// Where the clock exchange is answered.
    pub address: IpAddr,
    pub flows: Vec<ReceiveFlow>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Send {
    pub trial: String,
    pub session: Session,
    #[serde(default)]
    pub seed: u64,
    /// Where the receiver answers the clock exchange.
    pub exchange: Exchange,
    pub flows: Vec<SendFlow>,
    /// How long echoes are waited for after the last packet, ms.
    #[serde(default)]
    pub quiet_ms: u64,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    pub address: IpAddr,
    pub port: u16,
}

/// The random number of a session: 16 hex digits.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct Session(pub u64);

impl TryFrom<String> for Session {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        u64::from_str_radix(&text, 16)
            .map(Self)
            .map_err(|_| format!("the session is '{text}', it must be up to 16 hex digits"))
    }
}

/// An address with the length of its prefix.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub struct Network {
    pub address: IpAddr,
    pub prefix: u8,
}

impl TryFrom<String> for Network {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.split_once('/')
            .and_then(|(address, prefix)| {
                let address: IpAddr = address.parse().ok()?;
                let longest = if address.is_ipv4() { 32 } else { 128 };
                let prefix = prefix.parse().ok().filter(|&bits| bits <= longest)?;
                Some(Self { address, prefix })
            })
            .ok_or_else(|| format!("'{text}' is no address with a prefix, such as 198.18.0.1/24"))
    }
}

/// The longest wait and the longest flow that can be requested, s.
const LONGEST_S: f64 = 86_400.0;

impl Command {
    /// Checks what the types cannot say: no sum of its times overflows, and no wait is without an
    /// end. The error is one sentence.
    pub fn check(&self) -> Result<(), String> {
        let mut times: Vec<(&str, &str, f64)> = Vec::new();
        match self {
            Self::Finish { quiet_ms, .. } => times.push(("quiet_ms", "ms", *quiet_ms as f64)),
            Self::Clock { after_ms, .. } => times.push(("after_ms", "ms", *after_ms as f64)),
            Self::Send(send) => {
                times.push(("quiet_ms", "ms", send.quiet_ms as f64));
                for flow in &send.flows {
                    times.push(("start_s", "s", flow.start_s));
                    times.push(("duration_s", "s", flow.duration_s));
                }
            }
            _ => {}
        }
        for (name, unit, time) in times {
            let longest = if unit == "ms" {
                LONGEST_S * 1e3
            } else {
                LONGEST_S
            };
            if !(0.0..=longest).contains(&time) {
                return Err(format!(
                    "'{name}' is {time} {unit}, it must be from 0 to {longest} {unit}"
                ));
            }
        }
        Ok(())
    }
}
