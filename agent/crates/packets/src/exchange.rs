//! The four-timestamp exchange (RFC 5905, section 8): the sender asks at t1, the receiver hears
//! at t2 and answers at t3, the sender hears at t4. Questions and answers have sockets of their
//! own, so that they do not queue behind the traffic in a socket's buffer.
//!
//! The same way the sender says when its flows begin. It says in how long, not when: what leaves
//! then will be on its way for as long as the message was, so no clocks have to be compared.

use super::packet::{Header, Id, Kind, HEADER};
use super::records::Recorder;
use super::transport;
use super::Timer;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time between two questions of the run.
pub const PERIOD: Duration = Duration::from_millis(20);

/// Questions asked one after the other before the run and after it, and how long at most. The link
/// is quiet then, and nobody sleeps: the shortest round trips are among these.
const ROW: u64 = 200;
const ROW_NS: u64 = 200_000_000;

/// How long a path that does not answer is waited for: neighbours must be found out, addresses
/// tested.
const PATIENCE_NS: u64 = 5_000_000_000;

/// How long who answers looks for the next question of a row without sleeping.
const AWAKE_NS: u64 = 2_000_000;

/// Time between the announcement and the first packet: the threads are all waiting by then, and an
/// answer has half of it to come. Each that does not come doubles it for the next announcement.
const LEAD_NS: u64 = 50_000_000;

/// Announcements until a flow begins without its receiver knowing: for three seconds.
const ANNOUNCEMENTS: u32 = 7;

/// Header and three times.
const LENGTH: usize = HEADER + 24;

/// `awake`: who answers is to wait for the next question without sleeping.
fn message(id: Id, sequence: u64, kind: Kind, awake: bool, times: [u64; 3]) -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    Header {
        id,
        sequence,
        intended_ns: times[0],
        late_ns: awake.into(),
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

/// Answers questions until `over`, and hands on when flows will begin and end (ns on the timer) as
/// often as it is announced.
pub fn answer(
    session: u64,
    socket: &UdpSocket,
    timer: &Timer,
    over: &AtomicBool,
    mut planned: impl FnMut(u64, u64),
) -> io::Result<()> {
    let id = Id::new(session, 0);
    socket.set_read_timeout(Some(PERIOD))?;
    let mut bytes = [0; 2 * LENGTH];
    let mut awake_until = 0;
    while !over.load(Ordering::Relaxed) {
        let (length, from) = match socket.recv_from(&mut bytes) {
            Ok(got) => got,
            Err(error) if is_passing(&error) => {
                if awake_until != 0 && timer.now_ns() > awake_until {
                    awake_until = 0;
                    socket.set_nonblocking(false)?;
                }
                continue;
            }
            Err(error) => return Err(error),
        };
        let t2 = timer.now_ns();
        let Some(header) = Header::read(&bytes[..length]) else {
            continue;
        };
        if length != LENGTH || header.id != id {
            continue;
        }
        let [t1, lead_ns, length_ns] = times(&bytes[..length]);
        match header.kind {
            Kind::Question => {}
            Kind::Plan => {
                let start_ns = t2.saturating_add(lead_ns);
                planned(start_ns, start_ns.saturating_add(length_ns));
            }
            _ => continue,
        }
        let t3 = timer.now_ns();
        let reply = message(id, header.sequence, Kind::Answer, false, [t1, t2, t3]);
        socket.send_to(&reply, from).ok();
        let awake = header.late_ns != 0;
        if awake != (awake_until != 0) {
            socket.set_nonblocking(awake)?;
        }
        awake_until = if awake { t3 + AWAKE_NS } else { 0 };
    }
    Ok(())
}

/// Who asks, and writes down every answer.
pub struct Asker {
    id: Id,
    socket: UdpSocket,
    timer: Timer,
    recorder: Recorder,
    sequence: u64,
    /// The first question whose answer has not come: a path may take longer than a period, so the
    /// answer to one comes while a later one waits.
    unanswered: u64,
    answers: u64,
}

impl Asker {
    pub fn open(
        session: u64,
        peer: SocketAddr,
        timer: &Timer,
        recorder: Recorder,
    ) -> io::Result<Self> {
        let socket = transport::any_socket(peer)?;
        socket.connect(peer)?;
        socket.set_read_timeout(Some(PERIOD))?;
        Ok(Self {
            id: Id::new(session, 0),
            socket,
            timer: *timer,
            recorder,
            sequence: 0,
            unanswered: 0,
            answers: 0,
        })
    }

    /// Asks a row of questions, each when an answer has come or a period is over; half of them without
    /// sleep on either side, half with, because two hosts on one CPU disturb each other awake. A
    /// path that has not answered yet is waited for.
    pub fn row(&mut self) -> io::Result<()> {
        let start = self.timer.now_ns();
        let (mut requested, before) = (0, self.answers);
        loop {
            let spent = self.timer.now_ns() - start;
            let answered = self.answers > before;
            if requested >= ROW && answered || spent > if answered { ROW_NS } else { PATIENCE_NS } {
                break;
            }
            // The last one lets the other side sleep again.
            self.question(requested % 2 == 0 && requested + 1 < ROW)?;
            requested += 1;
        }
        self.socket.set_nonblocking(false)
    }

    /// Announces flows that take `length_ns` all together: when they begin, and whether who answers
    /// knows. One that has heard of a time which was then put off gets the new one.
    pub fn announce(&mut self, length_ns: u64) -> io::Result<(u64, bool)> {
        self.socket.set_nonblocking(false)?;
        let mut start_ns = 0;
        for doubled in 0..ANNOUNCEMENTS {
            let lead_ns = LEAD_NS << doubled;
            let (sequence, told_ns) = (self.sequence, self.timer.now_ns());
            self.sequence += 1;
            start_ns = told_ns + lead_ns;
            let plan = [told_ns, lead_ns, length_ns];
            let plan = message(self.id, sequence, Kind::Plan, false, plan);
            self.socket.send(&plan).ok();
            if self.is_answered(sequence, told_ns + lead_ns / 2)? {
                return Ok((start_ns, true));
            }
        }
        Ok((start_ns, false))
    }

    /// Waits for the answer to an announcement.
    fn is_answered(&self, sequence: u64, until_ns: u64) -> io::Result<bool> {
        let mut bytes = [0; 2 * LENGTH];
        let mut answered = false;
        while !answered {
            let left = until_ns.saturating_sub(self.timer.now_ns());
            if left == 0 {
                break;
            }
            self.socket
                .set_read_timeout(Some(Duration::from_nanos(left.max(1_000_000))))?;
            match self.socket.recv(&mut bytes) {
                Ok(length) => {
                    let header = self.answer(&bytes[..length]);
                    answered = header.is_some_and(|header| header.sequence == sequence);
                }
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(error),
            }
        }
        self.socket.set_read_timeout(Some(PERIOD))?;
        Ok(answered)
    }

    /// The header of an answer to this asker.
    fn answer(&self, bytes: &[u8]) -> Option<Header> {
        Header::read(bytes).filter(|header| {
            bytes.len() == LENGTH && header.id == self.id && header.kind == Kind::Answer
        })
    }

    /// Asks until `over`, every [`PERIOD`].
    pub fn run(&mut self, over: &AtomicBool) -> io::Result<()> {
        while !over.load(Ordering::Relaxed) {
            let next_ns = self.timer.now_ns() + PERIOD.as_nanos() as u64;
            self.question(false)?;
            self.hear_until(next_ns)?;
        }
        Ok(())
    }

    /// Hears every answer that comes until then, when it comes. Winsock takes a timeout below 500 ms
    /// for one of 500 ms, so there the socket is read every millisecond.
    fn hear_until(&mut self, until_ns: u64) -> io::Result<()> {
        let mut bytes = [0; 2 * LENGTH];
        self.socket.set_nonblocking(cfg!(windows))?;
        loop {
            let left = until_ns.saturating_sub(self.timer.now_ns());
            if left == 0 {
                self.socket.set_nonblocking(false)?;
                return self.socket.set_read_timeout(Some(PERIOD));
            }
            if cfg!(not(windows)) {
                let left = Duration::from_nanos(left.max(1_000_000));
                self.socket.set_read_timeout(Some(left))?;
            }
            match self.socket.recv(&mut bytes) {
                Ok(length) => {
                    let t4 = self.timer.now_ns();
                    self.hear(&bytes[..length], t4);
                }
                Err(error) if is_passing(&error) => {
                    if cfg!(windows) || error.kind() == ErrorKind::ConnectionRefused {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes an answer down that came at `t4`. None is, if no question waits for it, or a later one
    /// has been answered.
    fn hear(&mut self, bytes: &[u8], t4: u64) -> bool {
        let Some(header) = self.answer(bytes) else {
            return false;
        };
        if !(self.unanswered..self.sequence).contains(&header.sequence) {
            return false;
        }
        self.unanswered = header.sequence + 1;
        let [t1, t2, t3] = times(bytes);
        self.recorder.pair(t1, t4);
        self.recorder.pair(t2, t3);
        self.answers += 1;
        true
    }

    /// Hands over the records; how many answers there were.
    pub fn finish(self) -> u64 {
        self.recorder.finish();
        self.answers
    }

    fn question(&mut self, awake: bool) -> io::Result<()> {
        let (sequence, mut bytes) = (self.sequence, [0; 2 * LENGTH]);
        self.sequence += 1;
        self.socket.set_nonblocking(awake)?;
        let requested = self.timer.now_ns();
        let question = message(self.id, sequence, Kind::Question, awake, [requested, 0, 0]);
        if self.socket.send(&question).is_err() {
            // Nobody there yet: the address, or who answers.
            std::thread::sleep(Duration::from_millis(1));
        }
        loop {
            match self.socket.recv(&mut bytes) {
                Ok(length) => {
                    let t4 = self.timer.now_ns();
                    if self.hear(&bytes[..length], t4) {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                    std::thread::sleep(Duration::from_millis(1));
                    return Ok(());
                }
                Err(error) if is_passing(&error) && !awake => return Ok(()),
                Err(error) if is_passing(&error) => std::hint::spin_loop(),
                Err(error) => return Err(error),
            }
            // One that is late by a period is heard while a later question waits.
            if self.timer.now_ns() - requested > PERIOD.as_nanos() as u64 {
                return Ok(());
            }
        }
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::ConnectionRefused
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Kind as File, Recorder};
    use pentathlon_harness::clock::calibrate;

    #[test]
    fn every_question_of_a_row_is_answered_and_times_are_in_order() {
        let timer = Timer::start(&calibrate());
        let path = std::env::temp_dir().join(format!("exchange-{}", std::process::id()));
        std::fs::remove_file(&path).ok();
        let (recorder, writer) = Recorder::open(0, File::Exchange, &path).unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let peer = socket.local_addr().unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| answer(7, &socket, &timer, &over, |_, _| ()).unwrap());
            let mut asker = Asker::open(7, peer, &timer, recorder).unwrap();
            asker.row().unwrap();
            asker.row().unwrap();
            let requested = asker.sequence;
            let answers = asker.finish();
            assert!(answers > 0 && answers <= requested);
            over.store(true, Ordering::Relaxed);
            let bytes = writer.join().unwrap();
            assert!(bytes >= 32 * answers);
        });
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let eight = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        // One clock for both: t1 <= t2 <= t3 <= t4 in the first exchange behind the block's header.
        let [t1, t4, t2, t3] = [48, 56, 64, 72].map(eight);
        assert!(t1 <= t2 && t2 <= t3 && t3 <= t4, "{t1} {t2} {t3} {t4}");
    }

    #[test]
    fn answers_that_take_longer_than_a_period_are_heard() {
        let timer = Timer::start(&calibrate());
        let path = std::env::temp_dir().join(format!("slow-{}", std::process::id()));
        std::fs::remove_file(&path).ok();
        let (recorder, writer) = Recorder::open(0, File::Exchange, &path).unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let peer = socket.local_addr().unwrap();
        let delay = 2 * PERIOD + PERIOD / 2;
        let over = AtomicBool::new(false);
        let (answers, requested) = std::thread::scope(|scope| {
            let (path, delayed) = std::sync::mpsc::channel::<(Vec<u8>, SocketAddr, u64)>();
            // Each answer says that it was given at once, and arrives late, and once more.
            scope.spawn({
                let socket = socket.try_clone().unwrap();
                move || {
                    for (reply, to, asked_ns) in delayed {
                        let due = asked_ns + delay.as_nanos() as u64;
                        let left = due.saturating_sub(timer.now_ns());
                        std::thread::sleep(Duration::from_nanos(left));
                        socket.send_to(&reply, to).ok();
                        socket.send_to(&reply, to).ok();
                    }
                }
            });
            scope.spawn(|| {
                socket.set_read_timeout(Some(PERIOD)).unwrap();
                let mut bytes = [0; LENGTH];
                while !over.load(Ordering::Relaxed) {
                    let Ok((length, from)) = socket.recv_from(&mut bytes) else {
                        continue;
                    };
                    let t2 = timer.now_ns();
                    let header = Header::read(&bytes[..length]).unwrap();
                    let [t1, ..] = times(&bytes);
                    let (sequence, kind) = (header.sequence, Kind::Answer);
                    let reply = message(header.id, sequence, kind, false, [t1, t2, t2]);
                    path.send((reply.to_vec(), from, t2)).unwrap();
                }
                drop(path);
            });
            let mut asker = Asker::open(7, peer, &timer, recorder).unwrap();
            asker.row().unwrap();
            let before = asker.answers;
            let done = AtomicBool::new(false);
            std::thread::scope(|inner| {
                inner.spawn(|| {
                    std::thread::sleep(10 * PERIOD);
                    done.store(true, Ordering::Relaxed);
                });
                asker.run(&done).unwrap();
            });
            assert!(before > 0 && asker.answers > before);
            let requested = asker.sequence;
            let answers = asker.finish();
            over.store(true, Ordering::Relaxed);
            (answers, requested)
        });
        assert!(answers <= requested, "no answer counts twice");
        writer.join().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let eight = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let [t1, t4, t2, t3] = [48, 56, 64, 72].map(eight);
        assert!(t1 <= t2 && t2 == t3 && t4 >= t3 + delay.as_nanos() as u64);
    }

    #[test]
    fn flows_are_announced_until_somebody_knows() {
        let timer = Timer::start(&calibrate());
        let path = std::env::temp_dir().join(format!("announced-{}", std::process::id()));
        std::fs::remove_file(&path).ok();
        let (recorder, writer) = Recorder::open(0, File::Exchange, &path).unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let peer = socket.local_addr().unwrap();
        let over = AtomicBool::new(false);
        let reported = std::sync::Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            let answering = scope.spawn(|| {
                // The first announcement is lost.
                socket.recv(&mut [0; LENGTH]).unwrap();
                let plan = |start, end| reported.lock().unwrap().push((start, end));
                answer(7, &socket, &timer, &over, plan).unwrap();
            });
            let mut asker = Asker::open(7, peer, &timer, recorder).unwrap();
            let (start_ns, known) = asker.announce(3_000_000).unwrap();
            assert!(known && start_ns > timer.now_ns());
            asker.finish();
            over.store(true, Ordering::Relaxed);
            answering.join().unwrap();
            // One clock for both: a message arrives when it was sent, or later.
            let (from, to) = *reported.lock().unwrap().last().unwrap();
            assert!(from >= start_ns && to - from == 3_000_000);
        });
        writer.join().unwrap();
        std::fs::remove_file(&path).unwrap();
    }
}
