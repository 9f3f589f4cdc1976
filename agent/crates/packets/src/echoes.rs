//! What an echo receiver sends back, as it comes to the sender.

use super::icmp;
use super::packet::{Header, Id, Kind, LONGEST};
use super::receive::{is_quiet, Received, PATIENCE};
use super::records::Recorder;
use super::stream::Messages;
use super::Timer;
use std::io::{self, ErrorKind, Read};
use std::net::{TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};

/// The arrivals of echoes at the sender, until `over`.
pub fn receive(
    session: u64,
    flow: u32,
    timer: &Timer,
    tx: Echoes,
    mut recorder: Recorder,
    over: &AtomicBool,
) -> Received {
    let id = Id::new(session, flow);
    let mut received = Received::default();
    // A kernel sends requests back as they are.
    let kind = match tx {
        Echoes::Replies(_) => Kind::Data,
        _ => Kind::Echo,
    };
    let mut take = |packet: &[u8]| {
        let now = timer.now_ns();
        match Header::read(packet) {
            Some(header) if header.id == id.in_packet(packet.len()) && header.kind == kind => {
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
    let outcome = match tx {
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
