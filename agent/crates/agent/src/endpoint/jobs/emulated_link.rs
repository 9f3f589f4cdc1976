//! The work of the link emulator: a link between two interfaces of this host, and the probes that
//! measure it.

use super::Outcome;
use crate::endpoint::answer::Yield;
pub use pentathlon_link_emulator::forwarder::Order;
use pentathlon_link_emulator::{forwarder, probe};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{channel, Sender};
use std::sync::Arc;
use std::thread::JoinHandle;

pub type Link = forwarder::Request;
pub type Probes = probe::Request;
pub type Line = forwarder::Line;
pub type Probed = probe::Probed;
/// Where a link in use takes its orders.
pub type Orders = Sender<forwarder::Letter>;

pub fn emulate(
    request: &Link,
    over: &Arc<AtomicBool>,
) -> Result<(JoinHandle<Outcome>, Orders), String> {
    let forwarder = forwarder::Forwarder::open(request)?;
    let (letters, box_of_letters) = channel();
    let over = Arc::clone(over);
    let thread =
        std::thread::spawn(move || forwarder.run(&over, &box_of_letters).map(Yield::Emulate));
    Ok((thread, letters))
}

pub fn probe(request: Probes, over: &Arc<AtomicBool>) -> Result<JoinHandle<Outcome>, String> {
    let probe = probe::Probe::open(request)?;
    let over = Arc::clone(over);
    Ok(std::thread::spawn(move || {
        probe.run(&over).map(Yield::Probe)
    }))
}

/// Sends an order to a link in use; its answer.
pub fn ask(link: &Orders, order: Order) -> Result<Line, String> {
    let gone = |_| "the link has stopped; 'stop' gives the reason".to_owned();
    let (answer, answers) = channel();
    link.send((order, answer))
        .map_err(|e| gone(e.to_string()))?;
    answers.recv().map_err(|e| gone(e.to_string()))
}
