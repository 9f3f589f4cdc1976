//! ICMP echo requests (RFC 792, RFC 4443) at a fixed period, as ping(8) sends them.

use super::Outcome;
use crate::endpoint::answer::{Pinged, Yield};
use pentathlon_harness::clock::monotonic_ns;
use pentathlon_packets::frame;
use pentathlon_packets::icmp::Version;
use socket2::{Socket, Type};
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// ICMP header and 56 bytes, as ping(8).
const LENGTH: usize = 64;
/// How long the last reply is waited for.
const LAST_NS: u64 = 200_000_000;

pub fn start(
    peer: IpAddr,
    period_ms: u64,
    over: &Arc<AtomicBool>,
) -> Result<JoinHandle<Outcome>, String> {
    let (socket, raw) = open(peer).map_err(|e| format!("no socket for ICMP echo requests: {e}"))?;
    socket
        .connect(&SocketAddr::new(peer, 0).into())
        .map_err(|e| format!("echo requests cannot be sent to {peer}: {e}"))?;
    let over = Arc::clone(over);
    let period_ns = period_ms.max(1) * 1_000_000;
    let form = (Version::of(peer), raw);
    Ok(std::thread::spawn(move || {
        ask(socket, form, period_ns, &over)
            .map(Yield::Ping)
            .map_err(|e| e.to_string())
    }))
}

/// The ping socket of icmp(7) where this user may have one, else a raw one.
fn open(peer: IpAddr) -> io::Result<(Socket, bool)> {
    match Version::socket(peer, Type::DGRAM) {
        Ok(socket) => Ok((socket, false)),
        Err(_) => Ok((Version::socket(peer, Type::RAW)?, true)),
    }
}

/// The version of ICMP, and whether the socket is a raw one.
type Form = (Version, bool);

fn ask(mut socket: Socket, form: Form, period_ns: u64, over: &AtomicBool) -> io::Result<Pinged> {
    // Told apart from other programs' by the random part: the kernel sets the identifier itself.
    let mark = monotonic_ns() ^ u64::from(std::process::id()) << 32;
    let mut sent: Vec<u64> = Vec::new();
    let mut round_trips: Vec<Option<u64>> = Vec::new();
    let mut buffer = [0_u8; 2 * LENGTH];
    let mut due = monotonic_ns();
    let mut end = None;
    loop {
        let now = monotonic_ns();
        if end.is_none() && over.load(Ordering::Relaxed) {
            end = Some(now + LAST_NS);
        }
        if end.is_some_and(|end| now >= end || round_trips.iter().all(Option::is_some)) {
            break;
        }
        if end.is_none() && now >= due {
            let number = sent.len() as u64;
            sent.push(monotonic_ns());
            round_trips.push(None);
            // A request that finds no room is lost like any other packet.
            socket.send(&request(form.0.request, mark, number)).ok();
            due += period_ns;
        }
        let next = end.unwrap_or(due).saturating_sub(monotonic_ns());
        let wait = Duration::from_nanos(next.clamp(1_000, 20_000_000));
        socket.set_read_timeout(Some(wait))?;
        match socket.read(&mut buffer) {
            Ok(length) => {
                let came = monotonic_ns();
                if let Some(number) = reply(&buffer[..length], form, mark) {
                    if let Some(place) = round_trips.get_mut(number as usize) {
                        place.get_or_insert(came - sent[number as usize]);
                    }
                }
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock
                        | io::ErrorKind::TimedOut
                        | io::ErrorKind::Interrupted
                        | io::ErrorKind::ConnectionRefused
                ) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Pinged {
        sent: sent.len(),
        round_trip_ns: round_trips,
    })
}

fn request(kind: u8, mark: u64, number: u64) -> [u8; LENGTH] {
    let mut packet = [0; LENGTH];
    packet[0] = kind;
    packet[4..6].copy_from_slice(&(mark as u16).to_be_bytes());
    packet[6..8].copy_from_slice(&(number as u16).to_be_bytes());
    packet[8..16].copy_from_slice(&mark.to_be_bytes());
    packet[16..24].copy_from_slice(&number.to_be_bytes());
    // The Internet checksum (RFC 1071).
    let check = frame::fold(frame::sum(&packet)) ^ 0xffff;
    packet[2..4].copy_from_slice(&check.to_ne_bytes());
    packet
}

/// The number of the request that a packet replies to; none if it replies to none of ours.
fn reply(packet: &[u8], (version, raw): Form, mark: u64) -> Option<u64> {
    let data = version.open(packet, raw, version.reply)?;
    let eight = |at: usize| -> Option<u64> {
        Some(u64::from_be_bytes(data.get(at..at + 8)?.try_into().ok()?))
    };
    (eight(0)? == mark).then(|| eight(8))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_with_its_checksum_sums_to_zero() {
        let sum = |bytes: &[u8]| frame::fold(frame::sum(bytes));
        assert_eq!(sum(&request(8, 0x1234_5678_9abc_def0, 7)), 0xffff);
        // RFC 1071, section 3: the words 0001 f203 f4f5 f6f7 sum to ddf2.
        let example = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(sum(&example).to_ne_bytes(), [0xdd, 0xf2]);
    }

    #[test]
    fn only_replies_with_our_mark_count() {
        for peer in ["127.0.0.1", "::1"] {
            let version = Version::of(peer.parse().unwrap());
            let mut packet = request(version.request, 9, 3);
            assert_eq!(
                reply(&packet, (version, false), 9),
                None,
                "a request is no reply"
            );
            packet[0] = version.reply;
            assert_eq!(reply(&packet, (version, false), 9), Some(3));
            assert_eq!(reply(&packet, (version, false), 8), None);
            // A raw socket of version 4 gives the Internet header too; one of version 6 never does.
            let mut whole = match peer {
                "::1" => Vec::new(),
                _ => vec![0x45; 20],
            };
            whole.extend_from_slice(&packet);
            assert_eq!(reply(&whole, (version, true), 9), Some(3));
            whole.truncate(whole.len() - 50);
            assert_eq!(reply(&whole, (version, true), 9), None);
        }
    }
}
