//! Systems on which this agent emulates no links.

use super::Outcome;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;
use std::thread::JoinHandle;

pub type Link = IgnoredAny;
pub type Probes = IgnoredAny;
pub type Order = IgnoredAny;
pub type Line = Value;
pub type Probed = Value;
pub enum Orders {}

const REASON: &str = "links are emulated and probed by this agent on Linux only";

pub fn emulate(_: &Link, _: &Arc<AtomicBool>) -> Result<(JoinHandle<Outcome>, Orders), String> {
    Err(REASON.into())
}

pub fn probe(_: Probes, _: &Arc<AtomicBool>) -> Result<JoinHandle<Outcome>, String> {
    Err(REASON.into())
}

pub fn ask(link: &Orders, _: Order) -> Result<Line, String> {
    match *link {}
}
