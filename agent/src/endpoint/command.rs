//! What an endpoint can be told.

use crate::network::flow::{ReceiveFlow, SendFlow};
use serde::Deserialize;
use std::net::IpAddr;

#[derive(Debug, Clone, Deserialize)]
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
    /// Ends the endpoint; answered by `done`.
    Quit {},
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listen {
    pub trial: String,
    pub session: Session,
    /// Where the clock exchange is answered.
    pub address: IpAddr,
    pub flows: Vec<ReceiveFlow>,
}

#[derive(Debug, Clone, Deserialize)]
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

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    pub address: IpAddr,
    pub port: u16,
}

/// The random number of a session: 16 hex digits.
#[derive(Debug, Clone, Copy, Deserialize)]
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

impl Command {
    pub fn trial(&self) -> &str {
        match self {
            Self::Listen(Listen { trial, .. })
            | Self::Send(Send { trial, .. })
            | Self::Finish { trial, .. }
            | Self::Fetch { trial } => trial,
            Self::Quit {} => "",
        }
    }
}
