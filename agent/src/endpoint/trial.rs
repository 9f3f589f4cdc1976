//! The trials of an endpoint: threads that receive or send, and the records that they leave.

use super::command::{Listen, Send};
use super::host::Reading;
use crate::network::outlet::Outlet;
use crate::network::receive::{self, Inlet, Received};
use crate::network::records::{Kind, Recorder, Writer};
use crate::network::send::{self, Sent};
use crate::network::{exchange, Timer};
use serde_json::{json, Value};
use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Time between the command and the first packet: the threads are all waiting by then.
const LEAD_NS: u64 = 20_000_000;

/// Why a command was not obeyed.
#[derive(Debug)]
pub struct Refusal {
    /// The system cannot do what was asked for; else it should have worked.
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

pub struct Trials {
    timer: Timer,
    scratch: PathBuf,
    listening: HashMap<String, Listening>,
    files: HashMap<String, Vec<File>>,
}

struct Listening {
    over: Arc<AtomicBool>,
    flows: Vec<(u32, JoinHandle<Received>, Writer)>,
    exchange: JoinHandle<std::io::Result<()>>,
    before: Reading,
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

    /// Starts the receivers of a trial.
    pub fn listen(&mut self, listen: &Listen) -> Result<Value, Refusal> {
        if self.listening.contains_key(&listen.trial) {
            return Err(format!("the trial '{}' is listening already", listen.trial).into());
        }
        let session = listen.session.0;
        let over = Arc::new(AtomicBool::new(false));
        let socket = UdpSocket::bind(SocketAddr::new(listen.address, 0)).map_err(|e| {
            format!(
                "no socket at {} for the clock exchange: {e}",
                listen.address
            )
        })?;
        let exchange_port = port(&socket)?;
        // Every socket is opened before a thread is started: a refusal leaves nothing behind.
        let mut inlets = Vec::new();
        for flow in &listen.flows {
            let inlet = Inlet::open(flow, session).map_err(|e| {
                let what = format!("flow {} cannot receive at {}", flow.flow, flow.address);
                Refusal::new(&what, &e)
            })?;
            inlets.push((flow.clone(), inlet));
        }
        let (timer, ended) = (self.timer, Arc::clone(&over));
        let exchange =
            std::thread::spawn(move || exchange::answer(session, &socket, &timer, &ended));
        let mut ports = Vec::new();
        let mut flows = Vec::new();
        for (flow, inlet) in inlets {
            let number = flow.flow;
            let port = inlet.port().map_err(|e| format!("flow {number}: {e}"))?;
            ports.push(json!({"flow": number, "port": port}));
            let (recorder, writer) = self.recorder(&listen.trial, number, Kind::Received)?;
            let (timer, ended) = (self.timer, Arc::clone(&over));
            let thread = std::thread::spawn(move || {
                receive::run(&flow, session, &timer, inlet, recorder, &ended)
            });
            flows.push((number, thread, writer));
        }
        let listening = Listening {
            over,
            flows,
            exchange,
            before: Reading::now(),
        };
        self.listening.insert(listen.trial.clone(), listening);
        Ok(json!({
            "event": "ready", "trial": listen.trial, "flows": ports,
            "exchange_port": exchange_port,
        }))
    }

    /// Ends the receivers of a trial after `quiet_ms`.
    pub fn finish(&mut self, trial: &str, quiet_ms: u64) -> Result<Value, Refusal> {
        let listening = self
            .listening
            .remove(trial)
            .ok_or_else(|| format!("there is no trial '{trial}' that listens"))?;
        std::thread::sleep(Duration::from_millis(quiet_ms));
        listening.over.store(true, Ordering::Relaxed);
        let mut flows = Vec::new();
        for (flow, thread, writer) in listening.flows {
            let received = thread
                .join()
                .map_err(|_| format!("the receiver of flow {flow} panicked"))?;
            flows.push(self.written(trial, flow, "received", json!(received), writer)?);
        }
        listening.exchange.join().ok();
        let host = Reading::now().since(&listening.before);
        Ok(json!({"event": "received", "trial": trial, "flows": flows, "host": host}))
    }

    /// Sends the flows of a trial, to their end.
    pub fn send(&mut self, send: &Send) -> Result<Value, Refusal> {
        let session = send.session.0;
        let over = Arc::new(AtomicBool::new(false));
        let (asker, exchange_writer) = self.recorder(&send.trial, 0, Kind::Exchange)?;
        let mut outlets = Vec::new();
        for flow in &send.flows {
            let outlet = Outlet::open(flow).map_err(|e| {
                let what = format!("flow {} cannot be sent to {}", flow.flow, flow.peer);
                Refusal::new(&what, &e)
            })?;
            let back = flow.echo.then(|| outlet.echoes()).transpose();
            let back = back.map_err(|e| format!("flow {}: {e}", flow.flow))?;
            outlets.push((flow.clone(), outlet, back));
        }
        let before = Reading::now();
        let peer = SocketAddr::new(send.exchange.address, send.exchange.port);
        let (timer, ended) = (self.timer, Arc::clone(&over));
        let asking =
            std::thread::spawn(move || exchange::ask(session, peer, &timer, asker, &ended));
        let start_ns = self.timer.now_ns() + LEAD_NS;
        let mut senders: Vec<(u32, Sending, Writer)> = Vec::new();
        let mut echoes = Vec::new();
        for (flow, mut outlet, back) in outlets {
            let number = flow.flow;
            if let Some(back) = back {
                let (recorder, writer) = self.recorder(&send.trial, number, Kind::Echoes)?;
                let (timer, ended) = (self.timer, Arc::clone(&over));
                let thread = std::thread::spawn(move || {
                    receive::echoes(session, number, &timer, back, recorder, &ended)
                });
                echoes.push((number, thread, writer));
            }
            let (recorder, writer) = self.recorder(&send.trial, number, Kind::Sent)?;
            let (timer, seed) = (self.timer, send.seed);
            let start = start_ns + (flow.start_s * 1e9) as u64;
            let thread = std::thread::spawn(move || {
                send::run(&flow, session, seed, start, &timer, &mut outlet, recorder)
            });
            senders.push((number, thread, writer));
        }
        let mut flows = Vec::new();
        for (flow, thread, writer) in senders {
            let sent = thread
                .join()
                .map_err(|_| format!("the sender of flow {flow} panicked"))??;
            flows.push(self.written(&send.trial, flow, "sent", json!(sent), writer)?);
        }
        std::thread::sleep(Duration::from_millis(send.quiet_ms));
        over.store(true, Ordering::Relaxed);
        let mut back = Vec::new();
        for (flow, thread, writer) in echoes {
            let received = thread
                .join()
                .map_err(|_| format!("the reader of flow {flow}'s echoes panicked"))?;
            back.push(self.written(&send.trial, flow, "echoes", json!(received), writer)?);
        }
        let answers = match asking.join() {
            Ok(Ok(answers)) => json!(answers),
            Ok(Err(error)) => json!({"failed": error.to_string()}),
            Err(_) => json!({"failed": "the clock exchange panicked"}),
        };
        self.written(&send.trial, 0, "exchange", json!({}), exchange_writer)?;
        let host = Reading::now().since(&before);
        Ok(json!({
            "event": "sent", "trial": send.trial, "flows": flows, "echoes": back,
            "exchange": answers, "start_ns": start_ns, "host": host,
        }))
    }

    /// The files of a trial; they are the caller's from now on.
    pub fn take_records(&mut self, trial: &str) -> Vec<File> {
        self.files.remove(trial).unwrap_or_default()
    }

    fn recorder(&self, trial: &str, flow: u32, kind: Kind) -> Result<(Recorder, Writer), String> {
        let safe: String = trial
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let path = self.scratch.join(format!("{safe}-{flow}-{}", kind as u8));
        Recorder::open(flow, kind, &path)
            .map_err(|e| format!("the records of flow {flow} cannot be kept: {e}"))
    }

    /// Waits for a writer and notes its file; the flow's counts with its number and its bytes.
    fn written(
        &mut self,
        trial: &str,
        flow: u32,
        kind: &'static str,
        mut counts: Value,
        writer: Writer,
    ) -> Result<Value, String> {
        let path = writer.path.clone();
        let bytes = writer
            .join()
            .map_err(|e| format!("the records of flow {flow} were not written: {e}"))?;
        let file = File { flow, kind, path };
        self.files.entry(trial.to_owned()).or_default().push(file);
        counts["flow"] = flow.into();
        counts["record_bytes"] = bytes.into();
        Ok(counts)
    }
}

fn port(socket: &UdpSocket) -> Result<u16, String> {
    socket
        .local_addr()
        .map(|address| address.port())
        .map_err(|e| format!("the clock exchange has no port: {e}"))
}
