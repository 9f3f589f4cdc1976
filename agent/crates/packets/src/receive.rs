//! The receiver of one flow: every packet of the session is written down as it comes; what is
//! foreign is counted and dropped.

use super::accept::accept;
#[cfg(target_os = "linux")]
use super::flow::Reader;
use super::flow::{Protocol, ReceiveFlow, Role, TransmitBackend};
use super::packet::{Header, Id, Kind, LONGEST};
use super::records::Recorder;
use super::rx::Rx;
use super::stream::Messages;
use super::{pktgen, transport, Timer};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a sleeping receiver looks whether the trial is over.
pub(super) const PATIENCE: Duration = Duration::from_millis(20);

/// What a receiver got, in counts; the records hold the rest.
#[derive(Debug, Default, Clone, Serialize, JsonSchema)]
#[schemars(rename = "ReceivedCounts")]
pub struct Received {
    pub packets: u64,
    /// Bytes of payload.
    pub bytes: u64,
    /// Packets of others at this port, or damaged ones: counted and dropped.
    pub foreign: u64,
    /// Packets whose length is not the one that their header states.
    pub truncated: u64,
    pub first_ns: u64,
    pub last_ns: u64,
    pub lost_records: u64,
    /// Packets at this port for which the socket's buffer had no room; none if nobody counts them.
    pub buffer_drops: Option<u64>,
    /// Times of arrival are at most this much older than the arrivals, ns; but for the stale ones.
    pub age_ns: u64,
    /// Packets whose times may be older still, because nothing came soon after them.
    pub stale: u64,
    /// Why packets can be merged before their times of arrival are taken; none if they are not.
    pub merges: Option<String>,
    pub broken: Option<String>,
}

/// Receives one flow until `over`.
pub fn run(
    flow: &ReceiveFlow,
    session: u64,
    timer: &Timer,
    rx: Rx,
    recorder: Recorder,
    stamps: Option<Recorder>,
    over: &AtomicBool,
) -> Received {
    let mut receiver = Receiver {
        id: Id::new(session, flow.heard()),
        of_pktgen: flow.transmit_backend == TransmitBackend::Pktgen,
        timer: *timer,
        recorder,
        received: Received::default(),
    };
    #[cfg(not(target_os = "linux"))]
    drop(stamps);
    #[cfg(target_os = "linux")]
    {
        receiver.received.merges = super::merging::reason(flow);
    }
    let outcome = match rx {
        #[cfg(target_os = "linux")]
        Rx::Program(program) => receiver.program(flow.spinning, &program, over),
        #[cfg(target_os = "linux")]
        Rx::Ring(ring) => receiver.ring(flow.spinning, ring, over),
        #[cfg(target_os = "linux")]
        Rx::Xsk(xsk) => receiver.xsk(flow.spinning, xsk, over),
        Rx::Requests(None) => Ok(()),
        Rx::Requests(Some(requests)) => {
            let timer = receiver.timer;
            let mut take = |packet: &[u8]| {
                receiver.take(timer.now_ns(), packet);
            };
            requests.requests(&mut take, over)
        }
        #[cfg(target_os = "linux")]
        Rx::Datagram(socket) if stamps.is_some() => {
            let heard = stamps.expect("just seen");
            let done = receiver.stamped(flow, &socket, heard, over);
            receiver.count_drops(&socket);
            done
        }
        Rx::Datagram(socket) => receiver.socket(flow, &socket, over),
        #[cfg(target_os = "linux")]
        Rx::Frames(socket, _link) => receiver.socket(flow, &socket, over),
        Rx::Listener(listener) => receiver.connection(flow, &listener, over),
    };
    if let Err(error) = outcome {
        receiver.received.broken = Some(error.to_string());
    }
    receiver.received.lost_records = receiver.recorder.finish();
    receiver.received
}

pub(super) struct Receiver {
    id: Id,
    /// Packets carry the header of the kernel's generator, not ours.
    of_pktgen: bool,
    pub(super) timer: Timer,
    recorder: Recorder,
    received: Received,
}

impl Receiver {
    fn socket(
        &mut self,
        flow: &ReceiveFlow,
        socket: &UdpSocket,
        over: &AtomicBool,
    ) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if flow.reader == Reader::Recvmmsg {
            let done = self.many(flow, socket, over);
            self.count_drops(socket);
            return done;
        }
        let done = self.datagrams(flow, socket, over);
        #[cfg(target_os = "linux")]
        self.count_drops(socket);
        done
    }

    #[cfg(target_os = "linux")]
    fn count_drops(&mut self, socket: &UdpSocket) {
        self.received.buffer_drops =
            pentathlon_os::socket::dropped(std::os::fd::AsFd::as_fd(socket));
    }

    fn datagrams(
        &mut self,
        flow: &ReceiveFlow,
        socket: &UdpSocket,
        over: &AtomicBool,
    ) -> io::Result<()> {
        let mut packet = vec![0; LONGEST + 1];
        until_over(flow, socket, over, || {
            // Only who answers has to know the sender.
            let (length, from) = match flow.role {
                Role::Echo => socket
                    .recv_from(&mut packet)
                    .map(|(n, from)| (n, Some(from)))?,
                _ => (socket.recv(&mut packet)?, None),
            };
            let now = self.timer.now_ns();
            let ours = self.take(now, &packet[..length]);
            if let Some(from) = from.filter(|_| ours) {
                mark_as_echo(&mut packet[..length]);
                // An echo that finds no room is lost like any other packet.
                socket.send_to(&packet[..length], from).ok();
            }
            Ok(ours)
        })
    }

    /// Takes what an ordinary socket has, which does not wait.
    #[cfg(target_os = "linux")]
    pub(super) fn take_passed(&mut self, socket: &UdpSocket, packet: &mut [u8]) -> io::Result<()> {
        loop {
            match socket.recv(packet) {
                Ok(length) => {
                    let now = self.timer.now_ns();
                    self.take(now, &packet[..length]);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn connection(
        &mut self,
        flow: &ReceiveFlow,
        listener: &TcpListener,
        over: &AtomicBool,
    ) -> io::Result<()> {
        let foreign = &mut self.received.foreign;
        match accept(listener, self.id, flow.spinning, foreign, over)? {
            Some(stream) => self.stream(flow, stream, over),
            None => Ok(()),
        }
    }

    /// Reads the flow's connection to its end.
    fn stream(
        &mut self,
        flow: &ReceiveFlow,
        mut stream: TcpStream,
        over: &AtomicBool,
    ) -> io::Result<()> {
        stream.set_nonblocking(flow.spinning)?;
        transport::send_at_once(flow.protocol, &socket2::SockRef::from(&stream))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut messages = Messages::new();
        let mut back = Vec::new();
        loop {
            match stream.read(messages.room()) {
                Ok(0) => return Ok(()),
                Ok(bytes) => messages.filled(bytes),
                Err(error) if is_quiet(&error) => {
                    if over.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            loop {
                match messages.next() {
                    Ok(Some((_, message))) => {
                        let now = self.timer.now_ns();
                        if self.take(now, message) && flow.role == Role::Echo {
                            back.extend_from_slice(message);
                            let start = back.len() - message.len();
                            mark_as_echo(&mut back[start..]);
                        }
                    }
                    Ok(None) => break,
                    Err(_) => {
                        self.received.foreign += 1;
                        return Ok(());
                    }
                }
            }
            if !back.is_empty() {
                stream.set_nonblocking(false)?;
                match flow.protocol {
                    // Datagrams: one that finds no room is lost like any other packet.
                    Protocol::Dccp => drop(stream.write(&back)),
                    _ => stream.write_all(&back)?,
                }
                stream.set_nonblocking(flow.spinning)?;
                back.clear();
            }
        }
    }

    /// Writes down a packet that came at `now`; false if it is foreign.
    #[inline]
    pub(super) fn take(&mut self, now: u64, packet: &[u8]) -> bool {
        if self.of_pktgen {
            return self.take_of_pktgen(now, packet);
        }
        self.taken(now, packet).is_some()
    }

    fn take_of_pktgen(&mut self, now: u64, packet: &[u8]) -> bool {
        let sequence = pktgen::sequence(packet);
        match sequence {
            Some(sequence) => self.write_down(now, sequence, packet.len() as u16, false),
            None => self.received.foreign += 1,
        }
        sequence.is_some()
    }

    /// As [`Self::take`]; the packet's header, or none if it is foreign.
    #[inline]
    pub(super) fn taken(&mut self, now: u64, packet: &[u8]) -> Option<Header> {
        let id = self.id.in_packet(packet.len());
        let header =
            Header::read(packet).filter(|header| header.id == id && header.kind == Kind::Data);
        let Some(header) = header else {
            self.received.foreign += 1;
            return None;
        };
        let truncated = usize::from(header.length) != packet.len();
        self.write_down(now, header.sequence, packet.len() as u16, truncated);
        Some(header)
    }

    /// Writes down a packet of the flow.
    #[inline]
    pub(super) fn write_down(&mut self, now: u64, sequence: u64, length: u16, truncated: bool) {
        if self.received.packets == 0 {
            self.received.first_ns = now;
        }
        self.received.last_ns = now;
        self.received.packets += 1;
        self.received.bytes += u64::from(length);
        self.received.truncated += u64::from(truncated);
        self.recorder
            .record(sequence, now, 0, length, u16::from(truncated));
    }

    /// Counts packets of the flow of which nothing more is known.
    #[cfg(target_os = "linux")]
    pub(super) fn lose(&mut self, packets: u64) {
        self.received.packets += packets;
        self.recorder.lose(packets);
    }

    #[cfg(target_os = "linux")]
    pub(super) fn shared_times(&mut self, age_ns: u64, stale: u64) {
        self.received.age_ns = age_ns;
        self.received.stale = stale;
    }

    #[cfg(target_os = "linux")]
    pub(super) fn add_foreign(&mut self, packets: u64) {
        self.received.foreign += packets;
    }
}

/// Reads from the flow's socket, which waits as the flow requests, until `over`; `read` gives
/// whether what came was the flow's.
#[inline]
pub(super) fn until_over(
    flow: &ReceiveFlow,
    socket: &UdpSocket,
    over: &AtomicBool,
    mut read: impl FnMut() -> io::Result<bool>,
) -> io::Result<()> {
    if flow.spinning {
        socket.set_nonblocking(true)?;
    } else {
        socket.set_read_timeout(Some(PATIENCE))?;
    }
    loop {
        match read() {
            Ok(ours) => {
                // Where others flood the port it is never quiet.
                if !ours && over.load(Ordering::Relaxed) {
                    return Ok(());
                }
            }
            Err(error) if is_quiet(&error) => {
                if over.load(Ordering::Relaxed) {
                    return Ok(());
                }
                std::hint::spin_loop();
            }
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::ConnectionRefused | ErrorKind::Interrupted
                ) => {}
            Err(error) => return Err(error),
        }
    }
}

pub(super) fn mark_as_echo(packet: &mut [u8]) {
    if let Some(header) = Header::read(packet) {
        Header {
            kind: Kind::Echo,
            ..header
        }
        .write(packet);
    }
}

pub(super) fn is_quiet(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}
