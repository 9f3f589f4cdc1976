//! The receiver of one flow: every packet of the session is written down as it comes; what is
//! foreign is counted and dropped.

#[cfg(target_os = "linux")]
use super::flow::Rung;
use super::flow::{Protocol, Reader, ReceiveFlow, Role};
#[cfg(target_os = "linux")]
use super::live::{open_for_frames, XdpInlet};
use super::outlet::unsupported;
use super::packet::{Header, Id, Kind, LONGEST};
use super::records::Recorder;
use super::stream::Messages;
use super::Timer;
use serde::Serialize;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a sleeping receiver looks whether the trial is over.
const PATIENCE: Duration = Duration::from_millis(20);

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
    Listener(TcpListener),
    #[cfg(target_os = "linux")]
    Program(XdpInlet),
    /// A socket at an interface that a program lets take frames which no stack has made.
    #[cfg(target_os = "linux")]
    Frames(UdpSocket, Option<std::os::fd::OwnedFd>),
}

impl Inlet {
    /// An error of the kind `Unsupported` says what the system lacks.
    #[cfg_attr(not(target_os = "linux"), expect(unused_variables))] // the session of a program
    pub fn open(flow: &ReceiveFlow, session: u64) -> io::Result<Self> {
        if flow.protocol == Protocol::Tcp && flow.reader != Reader::Recv {
            return Err(unsupported("streams are read by the reader 'recv' only"));
        }
        if !cfg!(target_os = "linux") && flow.reader != Reader::Recv {
            return Err(unsupported("this reader needs Linux"));
        }
        let address = SocketAddr::new(flow.address, flow.port);
        let domain = socket2::Domain::for_address(address);
        let kind = match flow.protocol {
            Protocol::Udp => socket2::Type::DGRAM,
            Protocol::Tcp => socket2::Type::STREAM,
        };
        let socket = socket2::Socket::new(domain, kind, None)?;
        if let Some(bytes) = flow.buffer_bytes {
            set_buffer(&socket, bytes)?;
        }
        socket.bind(&address.into())?;
        Ok(match flow.protocol {
            #[cfg(target_os = "linux")]
            Protocol::Udp if flow.reader == Reader::Xdp => {
                if flow.role == Role::Echo {
                    return Err(unsupported("the reader 'xdp' sends nothing back"));
                }
                let id = Id::new(session, flow.flow);
                Self::Program(XdpInlet::open(socket.into(), id)?)
            }
            #[cfg(target_os = "linux")]
            Protocol::Udp if flow.rung == Rung::Live => {
                Self::Frames(socket.into(), open_for_frames(flow.address)?)
            }
            Protocol::Udp => Self::Datagram(socket.into()),
            Protocol::Tcp => {
                socket.listen(16)?;
                Self::Listener(socket.into())
            }
        })
    }

    pub fn port(&self) -> io::Result<u16> {
        match self {
            Self::Datagram(socket) => socket.local_addr(),
            #[cfg(target_os = "linux")]
            Self::Frames(socket, _) => socket.local_addr(),
            #[cfg(target_os = "linux")]
            Self::Program(program) => program.socket.local_addr(),
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
    over: &AtomicBool,
) -> Received {
    let mut receiver = Receiver {
        id: Id::new(session, flow.flow),
        timer: *timer,
        recorder,
        received: Received::default(),
    };
    let outcome = match inlet {
        #[cfg(target_os = "linux")]
        Inlet::Program(program) => receiver.program(flow.spinning, &program, over),
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
        stream.set_nodelay(true)?;
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
                stream.write_all(&back)?;
                stream.set_nonblocking(flow.spinning)?;
                back.clear();
            }
        }
    }

    /// Writes down a packet that came at `now`; false if it is foreign.
    #[inline]
    pub(super) fn take(&mut self, now: u64, packet: &[u8]) -> bool {
        let header =
            Header::read(packet).filter(|header| header.id == self.id && header.kind == Kind::Data);
        let Some(header) = header else {
            self.received.foreign += 1;
            return false;
        };
        let truncated = usize::from(header.length) != packet.len();
        self.write_down(now, header.sequence, packet.len() as u16, truncated);
        true
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

    /// Counts a packet of the flow of which nothing more is known.
    #[cfg(target_os = "linux")]
    pub(super) fn lose(&mut self) {
        self.received.packets += 1;
        self.recorder.lose();
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
    let mut take = |packet: &[u8]| {
        let now = timer.now_ns();
        match Header::read(packet) {
            Some(header) if header.id == id && header.kind == Kind::Echo => {
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
