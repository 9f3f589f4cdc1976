//! The receiver of one flow: every packet of the session is written down as it comes; what is
//! foreign is counted and dropped.

#[cfg(target_os = "linux")]
use super::flow::Rung;
use super::flow::{Protocol, Reader, ReceiveFlow, Role};
use super::icmp;
#[cfg(target_os = "linux")]
use super::live::{open_for_frames, XdpInlet};
use super::outlet::unsupported;
use super::packet::{Header, Id, Kind, LONGEST};
use super::records::Recorder;
#[cfg(target_os = "linux")]
use super::rings::{FrameRing, XskInlet};
use super::stream::Messages;
use super::{transport, Timer};
use serde::Serialize;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a sleeping receiver looks whether the trial is over.
pub(super) const PATIENCE: Duration = Duration::from_millis(20);

/// What a receiver got, in counts; the records hold the rest.
#[derive(Debug, Default, Clone, Serialize)]
pub struct Received {
    pub packets: u64,
    /// Bytes of payload.
    pub bytes: u64,
    /// Packets of others at this port, or damaged ones: counted and dropped.
    pub foreign: u64,
    /// Packets whose length is not the one that their header tells.
    pub truncated: u64,
    pub first_ns: u64,
    pub last_ns: u64,
    pub lost_records: u64,
    pub broken: Option<String>,
}

/// Where packets come in.
pub enum Inlet {
    Datagram(UdpSocket),
    /// Of a protocol with connections.
    Listener(TcpListener),
    /// Echo requests; none if nobody here can hear what the kernel answers.
    Requests(Option<icmp::Listener>),
    #[cfg(target_os = "linux")]
    Program(XdpInlet),
    #[cfg(target_os = "linux")]
    Ring(FrameRing),
    #[cfg(target_os = "linux")]
    Xsk(XskInlet),
    /// A socket at an interface that a program lets take frames which no stack has made.
    #[cfg(target_os = "linux")]
    Frames(UdpSocket, Option<std::os::fd::OwnedFd>),
}

impl Inlet {
    /// An error of the kind `Unsupported` says what the system lacks.
    #[cfg_attr(not(target_os = "linux"), expect(unused_variables))] // the session of a program
    pub fn open(flow: &ReceiveFlow, session: u64) -> io::Result<Self> {
        if flow.protocol != Protocol::Udp && flow.reader != Reader::Recv {
            return Err(unsupported(format!(
                "{} is read by the reader 'recv' only",
                flow.protocol.name()
            )));
        }
        if !cfg!(target_os = "linux") && flow.reader != Reader::Recv {
            return Err(unsupported("this reader needs Linux"));
        }
        if flow.protocol == Protocol::Icmp {
            let listener = icmp::Listener::open(flow.address)?;
            if let (Some(listener), Some(bytes)) = (&listener, flow.buffer_bytes) {
                set_buffer(listener.buffer(), bytes)?;
            }
            return Ok(Self::Requests(listener));
        }
        let address = SocketAddr::new(flow.address, flow.port);
        let socket = transport::socket(flow.protocol, address)?;
        if let Some(bytes) = flow.buffer_bytes {
            set_buffer(&socket, bytes)?;
        }
        match flow.group {
            Some(group) => transport::join(&socket, group, address)?,
            None => socket.bind(&address.into())?,
        }
        #[cfg(target_os = "linux")]
        if flow.protocol == Protocol::Udp {
            return Self::datagrams(flow, session, socket);
        }
        let _ = session;
        Ok(match flow.protocol {
            Protocol::Udp => Self::Datagram(socket.into()),
            _ => {
                socket.listen(16)?;
                Self::Listener(socket.into())
            }
        })
    }

    #[cfg(target_os = "linux")]
    fn datagrams(flow: &ReceiveFlow, session: u64, socket: socket2::Socket) -> io::Result<Self> {
        let id = Id::new(session, flow.heard());
        let quiet = matches!(flow.reader, Reader::Xdp | Reader::Ring | Reader::Afxdp);
        if quiet && flow.role == Role::Echo {
            return Err(unsupported("this reader sends nothing back"));
        }
        if quiet && flow.group.is_some() {
            return Err(unsupported("this reader hears no group"));
        }
        Ok(match flow.reader {
            Reader::Xdp => Self::Program(XdpInlet::open(socket.into(), id)?),
            Reader::Ring => Self::Ring(FrameRing::open(socket.into())?),
            Reader::Afxdp => Self::Xsk(XskInlet::open(socket.into())?),
            _ if flow.rung == Rung::Live => {
                Self::Frames(socket.into(), open_for_frames(flow.address)?)
            }
            _ => {
                if flow.stamps {
                    use std::os::fd::AsFd;
                    crate::sys::stamps::of_arrivals(socket.as_fd()).map_err(|e| {
                        unsupported(format!("the kernel gives no times of arrival: {e}"))
                    })?;
                }
                Self::Datagram(socket.into())
            }
        })
    }

    /// Whether somebody here writes down what comes.
    pub fn is_heard(&self) -> bool {
        !matches!(self, Self::Requests(None))
    }

    pub fn port(&self) -> io::Result<u16> {
        match self {
            Self::Datagram(socket) => socket.local_addr(),
            #[cfg(target_os = "linux")]
            Self::Frames(socket, _) => socket.local_addr(),
            #[cfg(target_os = "linux")]
            Self::Program(program) => program.socket.local_addr(),
            #[cfg(target_os = "linux")]
            Self::Ring(ring) => ring.socket.local_addr(),
            #[cfg(target_os = "linux")]
            Self::Xsk(xsk) => xsk.socket.local_addr(),
            Self::Requests(_) => return Ok(0),
            Self::Listener(listener) => listener.local_addr(),
        }
        .map(|address| address.port())
    }
}

/// Receives one flow until `over`.
pub fn run(
    flow: &ReceiveFlow,
    session: u64,
    timer: &Timer,
    inlet: Inlet,
    recorder: Recorder,
    stamps: Option<Recorder>,
    over: &AtomicBool,
) -> Received {
    let mut receiver = Receiver {
        id: Id::new(session, flow.heard()),
        timer: *timer,
        recorder,
        received: Received::default(),
    };
    #[cfg(not(target_os = "linux"))]
    drop(stamps);
    let outcome = match inlet {
        #[cfg(target_os = "linux")]
        Inlet::Program(program) => receiver.program(flow.spinning, &program, over),
        #[cfg(target_os = "linux")]
        Inlet::Ring(ring) => receiver.ring(flow.spinning, ring, over),
        #[cfg(target_os = "linux")]
        Inlet::Xsk(xsk) => receiver.xsk(flow.spinning, xsk, over),
        Inlet::Requests(None) => Ok(()),
        Inlet::Requests(Some(requests)) => {
            let timer = receiver.timer;
            let mut take = |packet: &[u8]| {
                receiver.take(timer.now_ns(), packet);
            };
            requests.requests(&mut take, over)
        }
        #[cfg(target_os = "linux")]
        Inlet::Datagram(socket) if stamps.is_some() => {
            let heard = stamps.expect("just seen");
            receiver.stamped(flow, &socket, heard, over)
        }
        Inlet::Datagram(socket) => receiver.socket(flow, &socket, over),
        #[cfg(target_os = "linux")]
        Inlet::Frames(socket, _link) => receiver.socket(flow, &socket, over),
        Inlet::Listener(listener) => receiver.connection(flow, &listener, over),
    };
    if let Err(error) = outcome {
        receiver.received.broken = Some(error.to_string());
    }
    receiver.received.lost_records = receiver.recorder.finish();
    receiver.received
}

pub(super) struct Receiver {
    id: Id,
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
            return self.many(flow, socket, over);
        }
        self.datagrams(flow, socket, over)
    }

    fn datagrams(
        &mut self,
        flow: &ReceiveFlow,
        socket: &UdpSocket,
        over: &AtomicBool,
    ) -> io::Result<()> {
        set_waiting(flow, socket)?;
        let mut packet = vec![0; LONGEST + 1];
        loop {
            match socket.recv_from(&mut packet) {
                Ok((length, from)) => {
                    let now = self.timer.now_ns();
                    let ours = self.take(now, &packet[..length]);
                    if ours && flow.role == Role::Echo {
                        mark_as_echo(&mut packet);
                        // An echo that finds no room is lost like any other packet.
                        socket.send_to(&packet[..length], from).ok();
                    }
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
        listener.set_nonblocking(true)?;
        while !over.load(Ordering::Relaxed) {
            match listener.accept() {
                // A stream that does not speak our language is foreign: the next one may come.
                Ok((stream, _)) => {
                    if self.stream(flow, stream, over)? {
                        return Ok(());
                    }
                }
                Err(error) if is_quiet(&error) => std::thread::sleep(Duration::from_millis(1)),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads one connection to its end; false if it was foreign.
    fn stream(
        &mut self,
        flow: &ReceiveFlow,
        mut stream: TcpStream,
        over: &AtomicBool,
    ) -> io::Result<bool> {
        stream.set_nonblocking(flow.spinning)?;
        transport::send_at_once(flow.protocol, &socket2::SockRef::from(&stream))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut messages = Messages::new();
        let mut back = Vec::new();
        let mut ours = false;
        loop {
            match stream.read(messages.room()) {
                Ok(0) => return Ok(ours),
                Ok(bytes) => messages.filled(bytes),
                Err(error) if is_quiet(&error) => {
                    if over.load(Ordering::Relaxed) {
                        return Ok(true);
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
                        if self.take(now, message) {
                            ours = true;
                            if flow.role == Role::Echo {
                                back.extend_from_slice(message);
                                let start = back.len() - message.len();
                                mark_as_echo(&mut back[start..]);
                            }
                        }
                    }
                    Ok(None) => break,
                    Err(_) => {
                        self.received.foreign += 1;
                        return Ok(ours);
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
        self.taken(now, packet).is_some()
    }

    /// As [`Self::take`]; the packet's header, or none if it is foreign.
    #[inline]
    pub(super) fn taken(&mut self, now: u64, packet: &[u8]) -> Option<Header> {
        let header =
            Header::read(packet).filter(|header| header.id == self.id && header.kind == Kind::Data);
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
    pub(super) fn add_foreign(&mut self, packets: u64) {
        self.received.foreign += packets;
    }
}

/// The arrivals of echoes at the sender, until `over`.
pub fn echoes(
    session: u64,
    flow: u32,
    timer: &Timer,
    outlet: Echoes,
    mut recorder: Recorder,
    over: &AtomicBool,
) -> Received {
    let id = Id::new(session, flow);
    let mut received = Received::default();
    // A kernel sends requests back as they are.
    let kind = match outlet {
        Echoes::Replies(_) => Kind::Data,
        _ => Kind::Echo,
    };
    let mut take = |packet: &[u8]| {
        let now = timer.now_ns();
        match Header::read(packet) {
            Some(header) if header.id == id && header.kind == kind => {
                if received.packets == 0 {
                    received.first_ns = now;
                }
                received.last_ns = now;
                received.packets += 1;
                received.bytes += packet.len() as u64;
                recorder.record(header.sequence, now, 0, packet.len() as u16, 0);
            }
            _ => received.foreign += 1,
        }
    };
    let outcome = match outlet {
        Echoes::Datagram(socket) => datagram_echoes(&socket, &mut take, over),
        Echoes::Stream(stream) => stream_echoes(stream, &mut take, over),
        Echoes::Replies(requests) => requests.replies(&mut take, over),
    };
    if let Err(error) = outcome {
        received.broken = Some(error.to_string());
    }
    received.lost_records = recorder.finish();
    received
}

/// The sender's socket, to read echoes from.
pub enum Echoes {
    Datagram(UdpSocket),
    Stream(TcpStream),
    Replies(icmp::Requests),
}

fn datagram_echoes(
    socket: &UdpSocket,
    take: &mut dyn FnMut(&[u8]),
    over: &AtomicBool,
) -> io::Result<()> {
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut packet = vec![0; LONGEST + 1];
    loop {
        match socket.recv(&mut packet) {
            Ok(length) => take(&packet[..length]),
            Err(error) if is_quiet(&error) || error.kind() == ErrorKind::ConnectionRefused => {
                if over.load(Ordering::Relaxed) {
                    return Ok(());
                }
            }
            Err(error) => return Err(error),
        }
    }
}

fn stream_echoes(
    mut stream: TcpStream,
    take: &mut dyn FnMut(&[u8]),
    over: &AtomicBool,
) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut messages = Messages::new();
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
            Err(error) => return Err(error),
        }
        while let Some((_, message)) = messages.next().map_err(io::Error::other)? {
            take(message);
        }
    }
}

/// Lets the socket wait as the flow asks for.
pub(super) fn set_waiting(flow: &ReceiveFlow, socket: &UdpSocket) -> io::Result<()> {
    if flow.spinning {
        socket.set_nonblocking(true)
    } else {
        socket.set_read_timeout(Some(PATIENCE))
    }
}

/// Asks for a buffer beyond the system's limit, which the administrator may have; else what the
/// limit allows.
fn set_buffer(socket: &socket2::Socket, bytes: usize) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if crate::sys::socket::force_receive_buffer(std::os::fd::AsFd::as_fd(socket), bytes).is_ok() {
        return Ok(());
    }
    socket.set_recv_buffer_size(bytes)
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
