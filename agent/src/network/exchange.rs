//! The four-timestamp exchange (RFC 5905, section 8): the sender asks at t1, the receiver hears
//! at t2 and answers at t3, the sender hears at t4. Questions and answers have sockets of their
//! own, so that they do not queue behind the traffic in a socket's buffer.

use super::packet::{Header, Id, Kind, HEADER};
use super::records::Recorder;
use super::Timer;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time between two questions.
pub const PERIOD: Duration = Duration::from_millis(20);

/// Header and three times.
const LENGTH: usize = HEADER + 24;

fn message(id: Id, sequence: u64, kind: Kind, times: [u64; 3]) -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    Header {
        id,
        sequence,
        intended_ns: times[0],
        late_ns: 0,
        length: LENGTH as u16,
        kind,
    }
    .write(&mut bytes);
    for (place, time) in bytes[HEADER..].chunks_exact_mut(8).zip(times) {
        place.copy_from_slice(&time.to_be_bytes());
    }
    bytes
}

fn times(bytes: &[u8]) -> [u64; 3] {
    let mut times = [0; 3];
    for (time, place) in times.iter_mut().zip(bytes[HEADER..].chunks_exact(8)) {
        *time = u64::from_be_bytes(place.try_into().expect("8 bytes"));
    }
    times
}

/// Answers questions until `over`.
pub fn answer(
    session: u64,
    socket: &UdpSocket,
    timer: &Timer,
    over: &AtomicBool,
) -> io::Result<()> {
    let id = Id::new(session, 0);
    socket.set_read_timeout(Some(PERIOD))?;
    let mut bytes = [0; 2 * LENGTH];
    while !over.load(Ordering::Relaxed) {
        let (length, from) = match socket.recv_from(&mut bytes) {
            Ok(got) => got,
            Err(error) if is_passing(&error) => continue,
            Err(error) => return Err(error),
        };
        let t2 = timer.now_ns();
        match Header::read(&bytes[..length]) {
            Some(header)
                if length == LENGTH && header.id == id && header.kind == Kind::Question =>
            {
                let [t1, ..] = times(&bytes[..length]);
                let reply = message(id, header.sequence, Kind::Answer, [t1, t2, timer.now_ns()]);
                socket.send_to(&reply, from).ok();
            }
            _ => {}
        }
    }
    Ok(())
}

/// Asks until `over`, and writes down every answer.
pub fn ask(
    session: u64,
    peer: SocketAddr,
    timer: &Timer,
    mut recorder: Recorder,
    over: &AtomicBool,
) -> io::Result<u64> {
    let id = Id::new(session, 0);
    let any: SocketAddr = if peer.is_ipv4() {
        ([0; 4], 0).into()
    } else {
        ([0_u16; 8], 0).into()
    };
    let socket = UdpSocket::bind(any)?;
    socket.connect(peer)?;
    socket.set_read_timeout(Some(PERIOD))?;
    let mut bytes = [0; 2 * LENGTH];
    let mut answers = 0;
    let mut sequence = 0;
    while !over.load(Ordering::Relaxed) {
        let asked = timer.now_ns();
        let question = message(id, sequence, Kind::Question, [asked, 0, 0]);
        socket.send(&question).ok();
        match socket.recv(&mut bytes) {
            Ok(length) => {
                let t4 = timer.now_ns();
                let header = Header::read(&bytes[..length]);
                if length == LENGTH
                    && header.is_some_and(|h| {
                        h.id == id && h.kind == Kind::Answer && h.sequence == sequence
                    })
                {
                    let [t1, t2, t3] = times(&bytes[..length]);
                    recorder.pair(t1, t4);
                    recorder.pair(t2, t3);
                    answers += 1;
                }
            }
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(error),
        }
        sequence += 1;
        let next = Duration::from_nanos(timer.now_ns() - asked);
        std::thread::sleep(PERIOD.saturating_sub(next));
    }
    recorder.finish();
    Ok(answers)
}

fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::ConnectionRefused
    )
}
