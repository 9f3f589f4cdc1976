//! Finds the sender's connection among those of others: the one whose first bytes are a message of
//! the flow. None is read before, so a connection that is silent, or is broken off, holds nobody up.

use super::packet::{Header, Id, Kind, HEADER};
use super::receive::{is_quiet, PATIENCE};
use std::io::{self, ErrorKind};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Connections that may be silent at once; for one more the oldest is closed.
const MOST_SILENT: usize = 256;

/// How long to wait where the system cannot wait for several connections at once.
const PAUSE: Duration = Duration::from_millis(1);

/// What the first bytes of a connection say.
enum First {
    Ours,
    Foreign,
    /// It ended before it said anything.
    Ended,
    /// Fewer bytes than a header, or none.
    Unknown(usize),
}

/// Waits for the connection of the flow; none if the trial is over before. Connections that begin
/// otherwise are counted in `foreign` and closed.
pub fn accept(
    listener: &TcpListener,
    id: Id,
    spinning: bool,
    foreign: &mut u64,
    over: &AtomicBool,
) -> io::Result<Option<TcpStream>> {
    listener.set_nonblocking(true)?;
    let mut silent = Vec::new();
    while !over.load(Ordering::Relaxed) {
        take_all(listener, &mut silent)?;
        let mut torn = false;
        let mut at = 0;
        while at < silent.len() {
            match first(&silent[at], id) {
                First::Ours => return Ok(Some(silent.swap_remove(at))),
                First::Foreign => {
                    *foreign += 1;
                    silent.remove(at);
                }
                First::Ended => drop(silent.remove(at)),
                First::Unknown(bytes) => {
                    torn |= bytes > 0;
                    at += 1;
                }
            }
        }
        if spinning && !silent.is_empty() {
            std::hint::spin_loop();
        } else if torn {
            // It is readable already, so nothing can be waited for.
            std::thread::sleep(PAUSE);
        } else {
            wait(listener, &silent)?;
        }
    }
    Ok(None)
}

fn take_all(listener: &TcpListener, silent: &mut Vec<TcpStream>) -> io::Result<()> {
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(true)?;
                if silent.len() == MOST_SILENT {
                    silent.remove(0);
                }
                silent.push(stream);
            }
            Err(error) if is_quiet(&error) => return Ok(()),
            // One that was broken off before it was taken.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::ConnectionAborted
                        | ErrorKind::ConnectionReset
                        | ErrorKind::Interrupted
                ) => {}
            Err(error) => return Err(error),
        }
    }
}

fn first(stream: &TcpStream, id: Id) -> First {
    let mut bytes = [0; HEADER];
    match stream.peek(&mut bytes) {
        Ok(0) => First::Ended,
        Ok(HEADER) => match Header::read(&bytes) {
            Some(header) if header.id == id && header.kind == Kind::Data => First::Ours,
            _ => First::Foreign,
        },
        Ok(part) => First::Unknown(part),
        Err(error) if is_quiet(&error) || error.kind() == ErrorKind::Interrupted => {
            First::Unknown(0)
        }
        Err(_) => First::Ended,
    }
}

/// Until one of them has something to say, at most as long as a receiver sleeps.
#[cfg(target_os = "linux")]
fn wait(listener: &TcpListener, silent: &[TcpStream]) -> io::Result<()> {
    use std::os::fd::AsFd;
    let mut files = vec![listener.as_fd()];
    files.extend(silent.iter().map(AsFd::as_fd));
    pentathlon_os::wait::any_readable(&files, PATIENCE).map(drop)
}

#[cfg(not(target_os = "linux"))]
fn wait(_: &TcpListener, silent: &[TcpStream]) -> io::Result<()> {
    if let [only] = silent {
        only.set_nonblocking(false)?;
        only.set_read_timeout(Some(PATIENCE))?;
        // The next look at it finds what came, or why nothing can come.
        only.peek(&mut [0]).ok();
        return only.set_nonblocking(true);
    }
    std::thread::sleep(PAUSE);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::SocketAddr;

    fn message(session: u64, kind: Kind) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        Header {
            id: Id::new(session, 3),
            sequence: 0,
            intended_ns: 0,
            late_ns: 0,
            length: HEADER as u16,
            kind,
        }
        .write(&mut bytes);
        bytes
    }

    /// The address of the connection that is found, and how many were foreign.
    fn found(spinning: bool, connect: impl FnOnce(SocketAddr) -> TcpStream) -> (bool, u64) {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let peer = socket.local_addr().unwrap();
        let over = AtomicBool::new(false);
        let mut foreign = 0;
        let same = std::thread::scope(|scope| {
            let count = &mut foreign;
            let accepting =
                scope.spawn(|| accept(&socket, Id::new(7, 3), spinning, count, &over).unwrap());
            let sender = connect(peer);
            let stream = accepting.join().unwrap().unwrap();
            stream.peer_addr().unwrap() == sender.local_addr().unwrap()
        });
        (same, foreign)
    }

    #[test]
    fn silent_torn_and_foreign_connections_hold_nobody_up() {
        for spinning in [false, true] {
            let mut others = Vec::new();
            let (same, foreign) = found(spinning, |peer| {
                // More than the system keeps for a listener that takes none.
                others.extend((0..200).map(|_| TcpStream::connect(peer).unwrap()));
                others[0].write_all(&[9; HEADER - 1]).unwrap();
                others[1].write_all(&[9; HEADER]).unwrap();
                others[2].write_all(&message(8, Kind::Data)).unwrap();
                others[3].write_all(&message(7, Kind::Echo)).unwrap();
                drop(others.pop());
                let mut sender = TcpStream::connect(peer).unwrap();
                sender.write_all(&message(7, Kind::Data)).unwrap();
                sender
            });
            // The three may still be on their way when the sender is found.
            assert!(same && foreign <= 3, "{foreign}");
        }
    }

    #[test]
    fn the_oldest_silent_ones_make_room() {
        let mut others = Vec::new();
        let (same, _) = found(false, |peer| {
            others.extend((0..MOST_SILENT + 20).map(|_| TcpStream::connect(peer).unwrap()));
            let mut sender = TcpStream::connect(peer).unwrap();
            sender.write_all(&message(7, Kind::Data)).unwrap();
            sender
        });
        assert!(same);
    }

    #[test]
    fn without_a_sender_it_ends_with_the_trial() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let _other = TcpStream::connect(socket.local_addr().unwrap()).unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let accepting = scope.spawn(|| accept(&socket, Id::new(7, 3), false, &mut 0, &over));
            over.store(true, Ordering::Relaxed);
            assert!(accepting.join().unwrap().unwrap().is_none());
        });
    }
}
