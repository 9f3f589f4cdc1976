//! Feeds the sending program with due times, writes down what it sent, and ends it.

use super::programs::{self, sending};
use super::{check_order_of_bytes, clock_offset, refused};
use crate::flow::SendFlow;
use crate::link::Link;
use crate::packet::Id;
use crate::records::Recorder;
use crate::send::{Packets, Sent};
use crate::tx::unsupported;
use crate::Timer;
use pentathlon_os::bpf::{Array, Program, Targets};
use pentathlon_os::{placement, signal};
use std::io::{self, ErrorKind};
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Duration;

/// Slots between this process and the program: at 10 million packets a second, 26 ms.
const SLOTS: u32 = 1 << 18;

/// Frames that the kernel takes in one go, as a driver would.
const BATCH: u32 = 64;

/// Runs in one call; a signal ends it earlier.
const RUNS: u32 = 2_000_000_000;

/// How often slots are filled and emptied.
const PERIOD: Duration = Duration::from_micros(500);

/// The flow's own socket, which holds the port, and the way of its frames.
pub struct LiveTx {
    pub socket: UdpSocket,
    link: Link,
    length: usize,
    /// The CPU that the program of the flow runs on, and those for everything else.
    pub cpus: Cpus,
}

/// One CPU for the program of a flow, which never rests, and all others for what feeds it and for what
/// writes down: a system that leaves them on one CPU has the program wait for milliseconds. Both are
/// empty where there is but one CPU, or where nobody reports.
#[derive(Debug, Clone, Default)]
pub struct Cpus {
    pub own: Vec<usize>,
    pub others: Vec<usize>,
}

impl LiveTx {
    pub fn open(socket: UdpSocket, flow: &SendFlow) -> io::Result<Self> {
        check_order_of_bytes()?;
        probe()?;
        let Some(length) = flow.length() else {
            return Err(unsupported(
                "the transmit backend 'live' sends packets of one size only",
            ));
        };
        let link = Link::open(&socket, &flow.size)?;
        Ok(Self {
            socket,
            link,
            length,
            cpus: apart(flow.flow),
        })
    }

    /// Sends one flow; as [`crate::send::run`]. `times`: its start and its end, ns.
    pub fn run(
        &self,
        id: Id,
        times: (u64, u64),
        packets: Packets,
        timer: &Timer,
        recorder: Recorder,
        mut fill: impl FnMut() -> u8,
    ) -> io::Result<Sent> {
        let (start_ns, end_ns) = times;
        let template = &self.link.template;
        let mut frame = vec![0; template.headers() + self.length];
        frame[template.headers()..].fill_with(&mut fill);
        let state = Array::new(1, sending::WORDS).map_err(refused("a shared map"))?;
        let due = Array::new(1, SLOTS).map_err(refused("a shared map"))?;
        let left = Array::new(1, SLOTS).map_err(refused("a shared map"))?;
        let interfaces =
            Targets::interface(self.link.interface).map_err(refused("a map of interfaces"))?;
        let program = Program::load(&programs::sender(&programs::Sending {
            state: state.number(),
            due: due.number(),
            left: left.number(),
            mask: SLOTS - 1,
            interfaces: interfaces.number(),
            id,
            frame: &frame,
            template,
        }))
        .map_err(refused("the sending program"))?;
        let mut feeder = Feeder {
            state: &state,
            due: &due,
            left: &left,
            packets,
            dues: vec![None; SLOTS as usize],
            planned: 0,
            written: 0,
            length: self.length as u16,
            end_ns,
            timer,
            recorder,
            sent: Sent::default(),
        };
        feeder.feed();
        signal::install(signal::Handler::First)?;
        let (stop, over) = (AtomicBool::new(false), AtomicBool::new(false));
        let thread = AtomicI32::new(0);
        let Cpus { own, others } = &self.cpus;
        let outcome = std::thread::scope(|scope| {
            let running = scope.spawn(|| {
                stay_on(own);
                thread.store(signal::this_thread(), Ordering::Release);
                let outcome = run_until(&program, &frame, &stop);
                over.store(true, Ordering::Release);
                outcome
            });
            stay_on(others);
            timer.wait_until(start_ns.saturating_sub(1_000_000));
            while timer.now_ns() < end_ns && !feeder.is_done() && !over.load(Ordering::Acquire) {
                feeder.feed();
                std::thread::sleep(PERIOD);
            }
            stop.store(true, Ordering::Release);
            // The signal ends the call; it may come before the call has begun, so it comes again.
            while !over.load(Ordering::Acquire) {
                match thread.load(Ordering::Acquire) {
                    0 => {} // It has not begun, and will see that it need not.
                    number => drop(signal::send_to_thread(number)),
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            running.join().expect("the thread does not panic")
        });
        feeder.drain(clock_offset(timer));
        let mut sent = feeder.sent;
        sent.planned = feeder.packets.planned(end_ns);
        sent.lost_records = feeder.recorder.finish();
        match outcome {
            Ok(()) => Ok(sent),
            Err(error) => {
                sent.broken = Some(format!("the kernel ended the program: {error}"));
                Ok(sent)
            }
        }
    }
}

/// Whether the kernel runs programs on live frames: one frame, which is dropped.
fn probe() -> io::Result<()> {
    let program = Program::load(&programs::verdict(programs::XDP_DROP));
    let program = program.map_err(refused("a program for frames"))?;
    program
        .run_live(&[0; 64], 1, 1)
        .map_err(refused("to run a program on live frames"))
}

fn apart(flow: u32) -> Cpus {
    let mut others = placement::cpus().unwrap_or_default();
    if others.len() < 2 {
        return Cpus::default();
    }
    let own = others.remove(others.len() - 1 - flow as usize % others.len());
    Cpus {
        own: vec![own],
        others,
    }
}

/// Keeps the calling thread on these CPUs; a system that refuses has it run anywhere, and lateness
/// reports.
fn stay_on(cpus: &[usize]) {
    if !cpus.is_empty() {
        placement::set_cpus(cpus).ok();
    }
}

fn run_until(program: &Program, frame: &[u8], stop: &AtomicBool) -> io::Result<()> {
    while !stop.load(Ordering::Acquire) {
        match program.run_live(frame, RUNS, BATCH) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

struct Feeder<'a> {
    state: &'a Array,
    due: &'a Array,
    left: &'a Array,
    packets: Packets,
    /// When each planned packet is due, ns on the endpoint's clock; none for at once.
    dues: Vec<Option<u64>>,
    planned: u64,
    written: u64,
    length: u16,
    end_ns: u64,
    timer: &'a Timer,
    recorder: Recorder,
    sent: Sent,
}

impl Feeder<'_> {
    /// Writes down what was sent, and plans what comes next. The kernel's clock and the
    /// endpoint's drift apart by parts in a million, so their difference is taken each time.
    fn feed(&mut self) {
        let offset = clock_offset(self.timer);
        self.drain(offset);
        let state = self.state.words();
        state[sending::OFFSET].store(offset, Ordering::Relaxed);
        state[sending::END].store(self.end_ns.wrapping_add(offset), Ordering::Relaxed);
        while self.planned - self.written < u64::from(SLOTS) {
            let Some(due) = self.packets.take(self.end_ns) else {
                break;
            };
            let index = (self.planned % u64::from(SLOTS)) as usize;
            let in_kernel = due.map_or(0, |due| due.wrapping_add(offset));
            self.dues[index] = due;
            self.due.words()[index].store(in_kernel, Ordering::Relaxed);
            self.planned += 1;
        }
        state[sending::PLANNED].store(self.planned, Ordering::Release);
    }

    fn drain(&mut self, offset: u64) {
        let until = self.state.words()[sending::SENT].load(Ordering::Acquire);
        while self.written < until {
            let index = (self.written % u64::from(SLOTS)) as usize;
            let left = self.left.words()[index].load(Ordering::Relaxed);
            let left = left.wrapping_sub(offset);
            let due = self.dues[index].unwrap_or(left);
            // The clocks' difference was another when the due time was handed over: a packet can
            // seem to leave a few ns early.
            let late = left.saturating_sub(due);
            self.recorder.record(
                self.written,
                due,
                u32::try_from(late).unwrap_or(u32::MAX),
                self.length,
                0,
            );
            if self.written == 0 {
                self.sent.first_ns = left;
            }
            self.sent.last_ns = left;
            self.sent.worst_late_ns = self.sent.worst_late_ns.max(late);
            self.sent.packets += 1;
            self.sent.bytes += u64::from(self.length);
            self.written += 1;
        }
    }

    fn is_done(&self) -> bool {
        self.written >= self.packets.most()
    }
}
