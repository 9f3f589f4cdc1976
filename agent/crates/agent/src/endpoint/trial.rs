//! The trials of an endpoint: threads that receive or send, and the records that they leave.

use super::answer::{Answer, Exchanged, Flow, Port};
use super::command::{Listen, Send};
use super::meter::{Meter, Span};
use pentathlon_os::placement;
use pentathlon_packets::echoes;
use pentathlon_packets::exchange::{self, Asker};
use pentathlon_packets::flow::SendFlow;
use pentathlon_packets::receive::{self, Received};
use pentathlon_packets::records::{Kind, Recorder, Writer};
use pentathlon_packets::rx::Rx;
use pentathlon_packets::send::{self, Sent};
use pentathlon_packets::tx::Tx;
use pentathlon_packets::Timer;
use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// How long after their planned end flows may still count: their last packets are being sent. A
/// stream that its receiver holds up goes on for longer.
const TAIL_NS: u64 = 20_000_000;

/// Why a command was not obeyed.
#[derive(Debug)]
pub struct Refusal {
    /// The system cannot do what was requested; else it should have worked.
    pub unsupported: bool,
    pub reason: String,
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Self {
            unsupported: false,
            reason,
        }
    }
}

impl Refusal {
    fn new(what: &str, error: &io::Error) -> Self {
        Self {
            unsupported: error.kind() == io::ErrorKind::Unsupported,
            reason: format!("{what}: {error}"),
        }
    }
}

/// A file of records.
#[derive(Debug)]
pub struct File {
    pub flow: u32,
    pub kind: &'static str,
    pub path: PathBuf,
}

type Sending = JoinHandle<Result<Sent, String>>;
type Departing = JoinHandle<io::Result<u64>>;

pub struct Trials {
    timer: Timer,
    scratch: PathBuf,
    listening: HashMap<String, Listening>,
    files: HashMap<String, Vec<File>>,
}

struct Listening {
    over: Arc<AtomicBool>,
    flows: Vec<Receiving>,
    exchange: JoinHandle<std::io::Result<()>>,
    meter: Meter,
}

/// A receiver at work.
struct Receiving {
    flow: u32,
    thread: JoinHandle<Received>,
    writer: Writer,
    /// Of the kernel's times.
    stamps: Option<Writer>,
}

/// Keeps this thread, and those that it starts, on some CPUs while it lives.
struct Away {
    before: Vec<usize>,
}

impl Away {
    fn on(cpus: &[usize]) -> Self {
        let before = placement::cpus().unwrap_or_default();
        placement::set_cpus(cpus).ok();
        Self { before }
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        if !self.before.is_empty() {
            placement::set_cpus(&self.before).ok();
        }
    }
}

impl Trials {
    pub fn new(timer: Timer, scratch: PathBuf) -> Self {
        Self {
            timer,
            scratch,
            listening: HashMap::new(),
            files: HashMap::new(),
        }
    }

    /// Starts the receivers of a trial. What was begun is undone if one of them cannot start.
    pub fn listen(&mut self, listen: &Listen) -> Result<Answer, Refusal> {
        if self.listening.contains_key(&listen.trial) {
            return Err(format!("the trial '{}' is listening already", listen.trial).into());
        }
        let over = Arc::new(AtomicBool::new(false));
        let outcome = self.start(listen, &over);
        if outcome.is_err() {
            over.store(true, Ordering::Relaxed);
            self.discard(&listen.trial);
        }
        outcome
    }

    fn start(&mut self, listen: &Listen, over: &Arc<AtomicBool>) -> Result<Answer, Refusal> {
        let session = listen.session.0;
        let socket = UdpSocket::bind(SocketAddr::new(listen.address, 0)).map_err(|e| {
            format!(
                "no socket at {} for the clock exchange: {e}",
                listen.address
            )
        })?;
        let exchange_port = port(&socket)?;
        // Every socket is opened before a thread is started: a refusal leaves nothing behind.
        let mut rxs = Vec::new();
        let mut ports: HashMap<u32, u16> = HashMap::new();
        for requested in &listen.flows {
            let mut flow = requested.clone();
            // A further receiver of a group is at the port of the first.
            if let Some(&port) = flow.hears.and_then(|first| ports.get(&first)) {
                flow.port = port;
            }
            let what = format!("flow {} cannot receive at {}", flow.flow, flow.address);
            let rx = Rx::open(&flow, session).map_err(|e| Refusal::new(&what, &e))?;
            let port = rx.port().map_err(|e| format!("{what}: {e}"))?;
            ports.insert(flow.flow, port);
            rxs.push((flow, rx));
        }
        let (timer, ended) = (self.timer, Arc::clone(over));
        let (meter, teller) = Meter::start(timer);
        let exchange = std::thread::spawn(move || {
            exchange::answer(session, &socket, &timer, &ended, |start_ns, end_ns| {
                teller.send(Span { start_ns, end_ns }).ok();
            })
        });
        let mut flows = Vec::new();
        for (flow, rx) in rxs {
            if !rx.is_heard() {
                continue;
            }
            let number = flow.flow;
            let (recorder, writer) = self.recorder(&listen.trial, number, Kind::Received)?;
            let stamps = flow
                .stamps
                .then(|| self.recorder(&listen.trial, number, Kind::Heard))
                .transpose()?;
            let (heard, stamps) = stamps.unzip();
            let (timer, ended) = (self.timer, Arc::clone(over));
            let thread = std::thread::spawn(move || {
                receive::run(&flow, session, &timer, rx, recorder, heard, &ended)
            });
            flows.push(Receiving {
                flow: number,
                thread,
                writer,
                stamps,
            });
        }
        let listening = Listening {
            over: Arc::clone(over),
            flows,
            exchange,
            meter,
        };
        self.listening.insert(listen.trial.clone(), listening);
        let port = |flow: u32| Port {
            flow,
            port: ports[&flow],
        };
        Ok(Answer::Ready {
            trial: listen.trial.clone(),
            flows: listen.flows.iter().map(|flow| port(flow.flow)).collect(),
            exchange_port,
        })
    }

    /// Ends the receivers of a trial after `quiet_ms`.
    pub fn finish(&mut self, trial: &str, quiet_ms: u64) -> Result<Answer, Refusal> {
        let listening = self
            .listening
            .remove(trial)
            .ok_or_else(|| format!("there is no trial '{trial}' that listens"))?;
        std::thread::sleep(Duration::from_millis(quiet_ms));
        listening.over.store(true, Ordering::Relaxed);
        let mut flows = Vec::new();
        for receiving in listening.flows {
            let flow = receiving.flow;
            let received = receiving
                .thread
                .join()
                .map_err(|_| format!("the receiver of flow {flow} panicked"))?;
            flows.push(self.counted(trial, flow, "received", received, receiving.writer)?);
            if let Some(stamps) = receiving.stamps {
                self.written(trial, flow, "heard", stamps)?;
            }
        }
        listening.exchange.join().ok();
        Ok(Answer::Received {
            trial: trial.to_owned(),
            flows,
            host: listening.meter.finish(),
        })
    }

    /// Sends the flows of a trial, to their end. A refusal leaves no records behind.
    pub fn send(&mut self, send: &Send) -> Result<Answer, Refusal> {
        let outcome = self.send_all(send);
        if outcome.is_err() {
            self.discard(&send.trial);
        }
        outcome
    }

    fn send_all(&mut self, send: &Send) -> Result<Answer, Refusal> {
        let session = send.session.0;
        let over = Arc::new(AtomicBool::new(false));
        let mut txs = Vec::new();
        for flow in &send.flows {
            let tx = Tx::open(flow).map_err(|e| {
                let what = format!("flow {} cannot be sent to {}", flow.flow, flow.peer);
                Refusal::new(&what, &e)
            })?;
            let back = flow.echo.then(|| tx.echoes()).transpose();
            let back = back.map_err(|e| format!("flow {}: {e}", flow.flow))?;
            txs.push((flow.clone(), tx, back));
        }
        let cpus = txs.iter().find_map(|(_, tx, _)| tx.cpus());
        // A CPU that sends without rest takes the frames on to a receiver of the same machine as well,
        // until another one sends through the same interface, and then has to do it: so the clock is
        // requested by that CPU, and all else is left to others.
        let own = cpus.map(|(own, _)| own.to_vec());
        let _away = cpus.map(|(_, others)| Away::on(others));
        let peer = SocketAddr::new(send.exchange.address, send.exchange.port);
        let (recorder, exchange_writer) = self.recorder(&send.trial, 0, Kind::Exchange)?;
        let silent = |e: io::Error| format!("no clock exchange with {peer}: {e}");
        let mut asker = Asker::open(session, peer, &self.timer, recorder).map_err(silent)?;
        // Before the first packet the path has answered, and the clocks are known best.
        asker.row().map_err(silent)?;
        let length = |flow: &SendFlow| ((flow.start_s + flow.duration_s) * 1e9) as u64;
        let length_ns = send.flows.iter().map(length).max().unwrap_or(0);
        let (start_ns, announced) = asker.announce(length_ns).map_err(silent)?;
        let (meter, teller) = Meter::start(self.timer);
        let span = Span {
            start_ns,
            end_ns: start_ns + length_ns + TAIL_NS,
        };
        teller.send(span).ok();
        let ended = Arc::clone(&over);
        let asking = std::thread::spawn(move || {
            if let Some(own) = own {
                placement::set_cpus(&own).ok();
            }
            asker.run(&ended).map(|()| asker)
        });
        #[cfg_attr(not(target_os = "linux"), allow(unused_mut))]
        let mut departures: Vec<(u32, Departing, Writer)> = Vec::new();
        let mut senders: Vec<(u32, Sending, Writer)> = Vec::new();
        let mut echoes = Vec::new();
        for (flow, mut tx, back) in txs {
            let number = flow.flow;
            if let Some(back) = back {
                let (recorder, writer) = self.recorder(&send.trial, number, Kind::Echoes)?;
                let (timer, ended) = (self.timer, Arc::clone(&over));
                let thread = std::thread::spawn(move || {
                    echoes::receive(session, number, &timer, back, recorder, &ended)
                });
                echoes.push((number, thread, writer));
            }
            #[cfg(target_os = "linux")]
            if let Some(socket) = tx.stamped().filter(|_| flow.stamps) {
                departures.push(self.departures(&send.trial, number, socket, &over)?);
            }
            let (recorder, writer) = self.recorder(&send.trial, number, Kind::Sent)?;
            let (timer, seed) = (self.timer, send.seed);
            let start = start_ns + (flow.start_s * 1e9) as u64;
            let thread = std::thread::spawn(move || {
                send::run(&flow, session, seed, start, &timer, &mut tx, recorder)
            });
            senders.push((number, thread, writer));
        }
        let mut ran = Vec::new();
        for (flow, thread, writer) in senders {
            ran.push((flow, thread.join(), writer));
        }
        // The flows are over; to write their records down is not theirs.
        drop(teller);
        let mut flows = Vec::new();
        for (flow, sent, writer) in ran {
            let sent = sent.map_err(|_| format!("the sender of flow {flow} panicked"))??;
            flows.push(self.counted(&send.trial, flow, "sent", sent, writer)?);
        }
        std::thread::sleep(Duration::from_millis(send.quiet_ms));
        over.store(true, Ordering::Relaxed);
        let mut back = Vec::new();
        for (flow, thread, writer) in echoes {
            let received = thread
                .join()
                .map_err(|_| format!("the reader of flow {flow}'s echoes panicked"))?;
            back.push(self.counted(&send.trial, flow, "echoes", received, writer)?);
        }
        for (flow, thread, writer) in departures {
            thread
                .join()
                .map_err(|_| format!("the times of flow {flow} panicked"))?
                .map_err(|e| format!("the kernel's times of flow {flow}: {e}"))?;
            self.written(&send.trial, flow, "left", writer)?;
        }
        let answered = match asking.join() {
            Ok(asked) => asked
                .and_then(|mut asker| asker.row().map(|()| asker.finish()))
                .map_err(|error| error.to_string()),
            Err(_) => Err("the clock exchange panicked".to_owned()),
        };
        let exchange = match answered {
            Ok(answers) => Exchanged::Answers(answers),
            Err(failed) => Exchanged::Failed { failed },
        };
        self.written(&send.trial, 0, "exchange", exchange_writer)?;
        Ok(Answer::Sent {
            trial: send.trial.clone(),
            flows,
            echoes: back,
            exchange,
            start_ns,
            announced,
            host: meter.finish(),
        })
    }

    /// Writes down the kernel's times of sending.
    #[cfg(target_os = "linux")]
    fn departures(
        &self,
        trial: &str,
        flow: u32,
        socket: &UdpSocket,
        over: &Arc<AtomicBool>,
    ) -> Result<(u32, Departing, Writer), Refusal> {
        use pentathlon_packets::{stamps, tx};
        use std::os::fd::AsFd;
        let what = format!("the kernel gives no times of sending for flow {flow}");
        pentathlon_os::stamps::of_departures(socket.as_fd())
            .map_err(|e| Refusal::new(&what, &tx::unsupported(e.to_string())))?;
        let socket = socket.try_clone().map_err(|e| Refusal::new(&what, &e))?;
        let (recorder, writer) = self.recorder(trial, flow, Kind::Left)?;
        let (timer, ended) = (self.timer, Arc::clone(over));
        let thread =
            std::thread::spawn(move || stamps::departures(&socket, &timer, recorder, &ended));
        Ok((flow, thread, writer))
    }

    /// Removes what a trial that was refused has begun to write down.
    fn discard(&mut self, trial: &str) {
        self.files.remove(trial);
        let prefix = format!("{}-", safe(trial));
        for entry in std::fs::read_dir(&self.scratch)
            .into_iter()
            .flatten()
            .flatten()
        {
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                std::fs::remove_file(entry.path()).ok();
            }
        }
    }

    /// Notes a file of a trial, which `take_records` will give.
    pub fn add_records(&mut self, trial: &str, file: File) {
        self.files.entry(trial.to_owned()).or_default().push(file);
    }

    /// The files of a trial; they are the caller's from now on.
    pub fn take_records(&mut self, trial: &str) -> Vec<File> {
        self.files.remove(trial).unwrap_or_default()
    }

    fn recorder(&self, trial: &str, flow: u32, kind: Kind) -> Result<(Recorder, Writer), String> {
        let name = format!("{}-{flow}-{}", safe(trial), kind as u8);
        let path = self.scratch.join(name);
        Recorder::open(flow, kind, &path)
            .map_err(|e| format!("the records of flow {flow} cannot be kept: {e}"))
    }

    /// What one end of a flow counted, once its records are written.
    fn counted<T>(
        &mut self,
        trial: &str,
        flow: u32,
        kind: &'static str,
        counts: T,
        writer: Writer,
    ) -> Result<Flow<T>, String> {
        Ok(Flow {
            counts,
            flow,
            record_bytes: self.written(trial, flow, kind, writer)?,
        })
    }

    /// Waits for a writer and notes its file; how many bytes that has.
    fn written(
        &mut self,
        trial: &str,
        flow: u32,
        kind: &'static str,
        writer: Writer,
    ) -> Result<u64, String> {
        let path = writer.path.clone();
        let bytes = writer
            .join()
            .map_err(|e| format!("the records of flow {flow} were not written: {e}"))?;
        let file = File { flow, kind, path };
        self.files.entry(trial.to_owned()).or_default().push(file);
        Ok(bytes)
    }
}

/// The name of a trial as the beginning of a file's name.
fn safe(trial: &str) -> String {
    trial
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect()
}

fn port(socket: &UdpSocket) -> Result<u16, String> {
    socket
        .local_addr()
        .map(|address| address.port())
        .map_err(|e| format!("the clock exchange has no port: {e}"))
}
