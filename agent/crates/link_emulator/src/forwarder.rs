//! Moves frames between two interfaces as the line between them would: what comes in at one is
//! taken from a ring with the kernel's time of its arrival, and leaves by the other when it is due.
//!
//! One thread does both directions. It sleeps until shortly before the next frame is due and spins
//! from there; a frame is never held by a sleep of its own.

use super::direction::{Direction, Due};
use super::profile::Way;
use super::queue::HEADER;
use super::statistics::WayUse;

use pentathlon_os::packet::FrameSocket;
use pentathlon_os::ring::{Frame, Ring};
use pentathlon_os::time::{monotonic_ns, realtime_ns, thread_cpu_ns};
use pentathlon_os::{interface, mmsg, namespace, timer_slack, wait};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

/// Frames that the ring of each interface has room for.
const SLOTS: usize = 8192;
/// Frames that are taken from a ring before what is due is sent.
const HANDFUL: usize = 64;
/// How often a thread with nothing to do looks for a command.
const IDLE_NS: u64 = 10_000_000;
/// How long after a frame a thread that spins without rest still does: other links are in use while
/// nothing comes here.
const AWAKE_NS: u64 = 500_000_000;
/// A frame older than this has a wrong time: the clock was set between its arrival and now.
const OLDEST_NS: u64 = 1_000_000_000;

/// The line that is requested.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LineRequest")]
pub struct Request {
    /// Names of the two interfaces.
    pub interfaces: [String; 2],
    /// The network namespace of each, as a file; this process' own where none is named.
    #[serde(default)]
    pub namespaces: [Option<PathBuf>; 2],
    /// From the first to the second, and back.
    pub ways: [Way; 2],
    #[serde(default)]
    pub seed: u64,
    /// How long before a frame is due the thread stops sleeping and spins, µs.
    pub spin_us: u64,
    /// Frames are handed over so much before they are due, ns: what handing over takes.
    #[serde(default)]
    pub lead_ns: u64,
}

/// What a line that is in use accepts as commands and queries.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    Cut,
    Mend,
    Statistics,
}

pub type Letter = (Order, Sender<Line>);

/// The statistics of a link since it was opened.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Line {
    /// From the first interface to the second, and back.
    pub ways: [WayUse; 2],
    pub elapsed_ns: u64,
    /// CPU time of the thread that carries the frames.
    pub cpu_ns: u64,
    /// How often it slept.
    pub sleeps: u64,
    /// How often the system's clock was set.
    pub clock_set: u64,
    /// Interfaces that were removed.
    pub gone: Vec<String>,
}

struct End {
    name: String,
    ring: Ring,
    out: FrameSocket,
    last_ns: u64,
}

pub struct Forwarder {
    ends: [End; 2],
    directions: [Direction<Vec<u8>>; 2],
    spare: Vec<Vec<u8>>,
    spin_ns: u64,
    lead_ns: u64,
    epoch_ns: u64,
    clock_set: u64,
    sleeps: u64,
}

impl Forwarder {
    /// Opens both interfaces. The error is a sentence.
    pub fn open(request: &Request) -> Result<Self, String> {
        let [first, second] = &request.interfaces;
        let [near, far] = &request.namespaces;
        if (first, near) == (second, far) {
            return Err(format!("both ends of the line are the interface {first}"));
        }
        let [there, back] = &request.ways;
        let directions = [
            Direction::new(there, request.seed, 0)?,
            Direction::new(back, request.seed, 1)?,
        ];
        let longest = there.mtu_bytes.max(back.mtu_bytes) + HEADER;
        let open = |name: &String, place: &Option<PathBuf>| -> Result<End, String> {
            namespace::inside(place.as_deref(), || end(name, longest as usize))
                .map_err(|e| format!("the line cannot take frames from the interface {name}: {e}"))
        };
        Ok(Self {
            ends: [open(first, near)?, open(second, far)?],
            directions,
            spare: Vec::new(),
            spin_ns: request.spin_us.saturating_mul(1000),
            lead_ns: request.lead_ns,
            epoch_ns: monotonic_ns(),
            clock_set: 0,
            sleeps: 0,
        })
    }

    /// Moves frames until `over`; gives the statistics.
    pub fn run(mut self, over: &AtomicBool, letters: &Receiver<Letter>) -> Result<Line, String> {
        timer_slack::set(1).ok();
        while !over.load(Ordering::Relaxed) {
            while let Ok((order, answer)) = letters.try_recv() {
                // Whoever asked may have gone away.
                answer.send(self.obey(order)).ok();
            }
            self.round().map_err(|e| format!("the line stopped: {e}"))?;
        }
        Ok(self.used())
    }

    fn obey(&mut self, order: Order) -> Line {
        match order {
            Order::Statistics => {}
            Order::Cut | Order::Mend => {
                let cut = matches!(order, Order::Cut);
                self.directions.iter_mut().for_each(|way| way.cut(cut));
            }
        }
        self.used()
    }

    fn now(&self) -> u64 {
        monotonic_ns() - self.epoch_ns
    }

    fn round(&mut self) -> io::Result<()> {
        // Everything that came before this moment is in the rings.
        let now_ns = self.now();
        let mut came = 0;
        for which in 0..2 {
            came += self.take(which);
        }
        if came == 2 * HANDFUL {
            return self.send_due();
        }
        for direction in &mut self.directions {
            direction.advance(now_ns);
        }
        self.send_due()?;
        self.rest()
    }

    /// Takes what has come in at one end; how many frames.
    fn take(&mut self, which: usize) -> usize {
        let mut count = 0;
        while count < HANDFUL {
            let Some((now, of_day)) = self.ends[which]
                .ring
                .ready()
                .then(|| (self.now(), realtime_ns()))
            else {
                break;
            };
            let Self {
                ends,
                directions,
                spare,
                clock_set,
                ..
            } = self;
            let End { ring, last_ns, .. } = &mut ends[which];
            let direction = &mut directions[which];
            ring.take(|frame| {
                let age = match of_day.checked_sub(frame.time_ns) {
                    Some(age) if age < OLDEST_NS => age,
                    _ => {
                        *clock_set += 1;
                        0
                    }
                };
                let came_ns = now.saturating_sub(age).max(*last_ns);
                *last_ns = came_ns;
                direction.statistics.unchecked += u64::from(frame.unchecked);
                let (bytes, length) = copy(&frame, spare);
                if let Some(back) = direction.offer(came_ns, length, bytes) {
                    spare.push(back);
                }
            });
            count += 1;
        }
        count
    }

    fn send_due(&mut self) -> io::Result<()> {
        for which in 0..2 {
            loop {
                let now_ns = self.now() + self.lead_ns;
                let direction = &mut self.directions[which];
                let mut due: Vec<Due<Vec<u8>>> = Vec::new();
                while due.len() < mmsg::MOST / 2 {
                    match direction.due(now_ns) {
                        Some(frame) => due.push(frame),
                        None => break,
                    }
                }
                if due.is_empty() {
                    break;
                }
                self.hand_over(which, due);
            }
        }
        Ok(())
    }

    fn hand_over(&mut self, which: usize, due: Vec<Due<Vec<u8>>>) {
        let frames: Vec<&Due<Vec<u8>>> = due
            .iter()
            .flat_map(|due| std::iter::repeat_n(due, 1 + usize::from(due.twice)))
            .collect();
        let socket = self.ends[1 - which].out.socket.as_fd();
        let mut done = 0;
        while done < frames.len() {
            let now_ns = monotonic_ns() - self.epoch_ns + self.lead_ns;
            let sent = mmsg::send(socket, frames.len() - done, |at| &frames[done + at].frame);
            let statistics = &mut self.directions[which].statistics;
            match sent {
                Ok(sent) => {
                    for due in &frames[done..done + sent] {
                        statistics.frames_out += 1;
                        statistics.bytes_out += u64::from(due.length);
                        statistics.lateness.record(now_ns - due.at_ns);
                    }
                    done += sent;
                }
                Err(_) => {
                    statistics.drops.refused += 1;
                    done += 1;
                }
            }
        }
        self.spare.extend(due.into_iter().map(|due| due.frame));
    }

    /// Sleeps, and then spins, until something is due or comes.
    fn rest(&mut self) -> io::Result<()> {
        let next_ns = self
            .directions
            .iter()
            .filter_map(Direction::next_ns)
            .min()
            .map(|next| next.saturating_sub(self.lead_ns));
        let now_ns = self.now();
        let left_ns = next_ns.map_or(IDLE_NS, |next| next.saturating_sub(now_ns).min(IDLE_NS));
        let came_ns = self.ends.iter().map(|end| end.last_ns).max().unwrap_or(0);
        let idle = next_ns.is_none() && now_ns > came_ns + AWAKE_NS;
        let spin_ns = if idle { 0 } else { self.spin_ns };
        if left_ns > spin_ns {
            let [first, second] = &self.ends;
            let limit = Duration::from_nanos(left_ns - spin_ns);
            self.sleeps += 1;
            if wait::readable([first.ring.as_fd(), second.ring.as_fd()], limit)? {
                self.ends.iter().try_for_each(End::forgive)?;
            }
            return Ok(());
        }
        let until_ns = now_ns + left_ns;
        while self.now() < until_ns && !self.ends.iter().any(|end| end.ring.ready()) {
            std::hint::spin_loop();
        }
        Ok(())
    }

    fn used(&mut self) -> Line {
        for (way, end) in self.directions.iter_mut().zip(&self.ends) {
            way.statistics.drops.ring += end.ring.lost().unwrap_or(0);
        }
        let gone = self.ends.iter().filter(|end| end.gone());
        Line {
            ways: self.directions.each_ref().map(Direction::used),
            elapsed_ns: self.now(),
            cpu_ns: thread_cpu_ns(),
            sleeps: self.sleeps,
            clock_set: self.clock_set,
            gone: gone.map(|end| end.name.clone()).collect(),
        }
    }
}

impl End {
    /// Where a wait ended without a frame, an interface was taken down: it may come up again, and
    /// until then nothing comes.
    fn forgive(&self) -> io::Result<()> {
        if !self.ring.ready() {
            self.ring.error()?;
        }
        Ok(())
    }

    /// Whether the interface was removed. An error does not report it: an interface that is removed is
    /// taken down first, and only that is reported, at a moment when it is still there.
    fn gone(&self) -> bool {
        self.ring.bound().is_ok_and(|bound| !bound)
    }
}

fn end(wanted: &str, longest: usize) -> io::Result<End> {
    let (index, _) = interface::list()?
        .into_iter()
        .find(|(_, found)| found == wanted)
        .ok_or_else(|| io::Error::other("there is no such interface"))?;

    let out = FrameSocket::open(index)?;
    out.socket.set_nonblocking(true)?;
    Ok(End {
        name: wanted.to_owned(),
        ring: Ring::open(index, longest, SLOTS)?,
        out,
        last_ns: 0,
    })
}

/// The frame's bytes, with the tag that the kernel took out of them, and its length.
fn copy(frame: &Frame<'_>, spare: &mut Vec<Vec<u8>>) -> (Vec<u8>, u32) {
    const ADDRESSES: usize = 12;
    let mut bytes = spare.pop().unwrap_or_default();
    bytes.clear();
    match frame.tag {
        Some((protocol, value)) if frame.bytes.len() >= ADDRESSES => {
            bytes.extend_from_slice(&frame.bytes[..ADDRESSES]);
            bytes.extend_from_slice(&protocol.to_be_bytes());
            bytes.extend_from_slice(&value.to_be_bytes());
            bytes.extend_from_slice(&frame.bytes[ADDRESSES..]);
            (bytes, frame.length + 4)
        }
        _ => {
            bytes.extend_from_slice(frame.bytes);
            (bytes, frame.length)
        }
    }
}
