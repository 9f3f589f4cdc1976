//! Probes: small datagrams by which the experimenter finds out what a line does to packets.
//!
//! Both ends run the same work on a pair of connected sockets: it sends what it is requested to, writes
//! down when each of the other's probes came by the kernel's own time, and sends those back that
//! request it.

use pentathlon_os::time::{monotonic_ns, realtime_ns};
use pentathlon_os::{socket, stamp, timer_slack, wait};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const DATA: u8 = 0;
const QUESTION: u8 = 1;
const ANSWER: u8 = 2;
/// Mark, sequence, time of sending (each 8 bytes, big-endian) and kind.
const HEADER: usize = 25;
const LONGEST: usize = 65_507;
/// How long before a probe is due the thread spins instead of sleeping.
const SPIN_NS: u64 = 100_000;
const IDLE_NS: u64 = 10_000_000;
const BUFFER: usize = 32 << 20;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ProbeRequest")]
pub struct Request {
    pub local: SocketAddr,
    pub peer: SocketAddr,
    /// A number that distinguishes this session's probes from other packets.
    pub mark: u64,
    #[serde(default)]
    pub send: Option<Send>,
}

/// Probes at a fixed period.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ProbeSend")]
pub struct Send {
    pub count: u64,
    /// Bytes of payload.
    pub size_bytes: usize,
    pub period_ns: u64,
    /// How long the first one waits, so that the peer is there when it comes.
    #[serde(default)]
    pub after_ns: u64,
    /// Whether the peer sends each of them back.
    #[serde(default)]
    pub answer: bool,
}

pub struct Probe {
    socket: UdpSocket,
    request: Request,
    found: Probed,
}

/// What probes found out.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Probed {
    pub sent: u64,
    pub refused: u64,
    pub foreign: u64,
    pub unstamped: u64,
    /// How late probes left: the latest of all.
    pub latest_ns: u64,
    /// Sequence, time of sending on the sender's clock, time of arrival on this one's, ns.
    pub came: Vec<(u64, u64, u64)>,
    /// The same of those that came back.
    pub answers: Vec<(u64, u64, u64)>,
}

impl Probe {
    /// The error is a sentence.
    pub fn open(request: Request) -> Result<Self, String> {
        let opened = (|| {
            let socket = UdpSocket::bind(request.local)?;
            socket.connect(request.peer)?;
            stamp::ask(socket.as_fd())?;
            // Not every system lets us; the kernel's own limit then holds.
            socket::force_receive_buffer(socket.as_fd(), BUFFER).ok();
            Ok::<_, io::Error>(socket)
        })();
        let socket = opened.map_err(|e| {
            format!(
                "no socket for probes from {} to {}: {e}",
                request.local, request.peer
            )
        })?;
        if let Some(send) = &request.send {
            if !(HEADER..=LONGEST).contains(&send.size_bytes) {
                return Err(format!(
                    "'size_bytes' is {}, it must be from {HEADER} to {LONGEST}",
                    send.size_bytes
                ));
            }
        }
        Ok(Self {
            socket,
            request,
            found: Probed::default(),
        })
    }

    /// Sends and receives until `over`.
    pub fn run(mut self, over: &AtomicBool) -> Result<Probed, String> {
        timer_slack::set(1).ok();
        self.work(over)
            .map_err(|e| format!("probing ended early: {e}"))?;
        Ok(self.found)
    }

    fn work(&mut self, over: &AtomicBool) -> io::Result<()> {
        let mut packet = vec![0; LONGEST];
        let start_ns = monotonic_ns();
        while !over.load(Ordering::Relaxed) {
            self.receive(&mut packet)?;
            let due_ns = self.request.send.as_ref().and_then(|send| {
                (self.sequence() < send.count).then(|| {
                    let periods = self.sequence().saturating_mul(send.period_ns);
                    start_ns
                        .saturating_add(send.after_ns)
                        .saturating_add(periods)
                })
            });
            let now_ns = monotonic_ns();
            if due_ns.is_some_and(|due_ns| due_ns <= now_ns) {
                self.found.latest_ns = self.found.latest_ns.max(now_ns - due_ns.unwrap_or(now_ns));
                self.send();
                continue;
            }
            let left_ns = due_ns
                .map_or(IDLE_NS, |due_ns| due_ns - now_ns)
                .min(IDLE_NS);
            if left_ns > SPIN_NS {
                let limit = Duration::from_nanos(left_ns - SPIN_NS);
                wait::readable([self.socket.as_fd()], limit)?;
            } else {
                std::hint::spin_loop();
            }
        }
        Ok(())
    }

    /// That of the next probe.
    fn sequence(&self) -> u64 {
        self.found.sent + self.found.refused
    }

    fn send(&mut self) {
        let Some(send) = &self.request.send else {
            return;
        };
        let mut packet = vec![0; send.size_bytes];
        let kind = if send.answer { QUESTION } else { DATA };
        let sequence = self.sequence();
        write(
            &mut packet,
            self.request.mark,
            sequence,
            monotonic_ns(),
            kind,
        );
        match self.socket.send(&packet) {
            Ok(_) => self.found.sent += 1,
            Err(_) => self.found.refused += 1,
        }
    }

    /// Takes what has come.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        while let Some((length, stamp)) = stamp::receive(self.socket.as_fd(), buffer)? {
            let now_ns = monotonic_ns();
            let age_ns = stamp.and_then(|stamp| realtime_ns().checked_sub(stamp));
            self.found.unstamped += u64::from(age_ns.is_none());
            let came_ns = now_ns - age_ns.unwrap_or(0).min(now_ns);
            let Some((sequence, sent_ns, kind)) = read(&buffer[..length], self.request.mark) else {
                self.found.foreign += 1;
                continue;
            };
            match kind {
                ANSWER => self.found.answers.push((sequence, sent_ns, came_ns)),
                _ => self.found.came.push((sequence, sent_ns, came_ns)),
            }
            if kind == QUESTION {
                buffer[HEADER - 1] = ANSWER;
                // An answer that finds no room is lost, as a probe is.
                self.socket.send(&buffer[..length]).ok();
            }
        }
        Ok(())
    }
}

fn write(packet: &mut [u8], mark: u64, sequence: u64, sent_ns: u64, kind: u8) {
    packet[..8].copy_from_slice(&mark.to_be_bytes());
    packet[8..16].copy_from_slice(&sequence.to_be_bytes());
    packet[16..24].copy_from_slice(&sent_ns.to_be_bytes());
    packet[HEADER - 1] = kind;
}

fn read(packet: &[u8], mark: u64) -> Option<(u64, u64, u8)> {
    let eight = |at: usize| -> Option<u64> {
        Some(u64::from_be_bytes(packet.get(at..at + 8)?.try_into().ok()?))
    };
    let kind = *packet.get(HEADER - 1)?;
    (eight(0)? == mark && kind <= ANSWER).then_some((eight(8)?, eight(16)?, kind))
}
