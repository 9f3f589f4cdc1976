//! The kernel's times of datagrams, written down beside the program's.
//!
//! The kernel stamps by the clock that people set. A stamp is therefore turned at once into an age,
//! which is taken off the timer's present value: a step of that clock spoils what is between stamp
//! and reading and nothing after it.

use super::flow::{ReceiveFlow, Role};
use super::packet::LONGEST;
use super::receive::{mark_as_echo, until_over, Receiver, PATIENCE};
use super::records::Recorder;
use super::Timer;
use pentathlon_os::poll::{self, Ready};
use pentathlon_os::stamps;
use std::io;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// An age beyond this is none: the clock was set in between.
const OLDEST_NS: u64 = 1_000_000_000;

/// A stamp on the endpoint's timer; none if the clock was set since.
pub fn on_timer(timer: &Timer, stamp_ns: u64) -> Option<u64> {
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let now = timer.now_ns();
    let age = u64::try_from(clock.as_nanos())
        .ok()?
        .checked_sub(stamp_ns)?;
    (age <= OLDEST_NS).then(|| now.saturating_sub(age))
}

impl Receiver {
    /// Receives until `over`, and writes the kernel's times into `heard`.
    pub(super) fn stamped(
        &mut self,
        flow: &ReceiveFlow,
        socket: &UdpSocket,
        mut heard: Recorder,
        over: &AtomicBool,
    ) -> io::Result<()> {
        let mut packet = vec![0; LONGEST + 1];
        until_over(flow, socket, over, || {
            let came = stamps::receive(socket.as_fd(), &mut packet)?;
            let now = self.timer.now_ns();
            let header = self.taken(now, &packet[..came.length]);
            if let (Some(header), Some(stamp)) = (header, came.stamp_ns) {
                if let Some(time) = on_timer(&self.timer, stamp) {
                    heard.record(header.sequence, time, 0, came.length as u16, 0);
                }
            }
            if header.is_some() && flow.role == Role::Echo {
                mark_as_echo(&mut packet[..came.length]);
                came.from
                    .and_then(|from| socket.send_to(&packet[..came.length], from).ok());
            }
            Ok(header.is_some())
        })?;
        heard.finish();
        Ok(())
    }
}

/// Writes down when the socket's datagrams were handed to the device, until `over`.
pub fn departures(
    socket: &UdpSocket,
    timer: &Timer,
    mut recorder: Recorder,
    over: &AtomicBool,
) -> io::Result<u64> {
    let mut count = 0;
    loop {
        let last = over.load(Ordering::Relaxed);
        while let Some((number, stamp)) = stamps::departure(socket.as_fd())? {
            if let Some(time) = on_timer(timer, stamp) {
                recorder.record(number.into(), time, 0, 0, 0);
                count += 1;
            }
        }
        if last {
            recorder.finish();
            return Ok(count);
        }
        poll::wait(socket.as_fd(), Ready::Error, PATIENCE)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_harness::clock::calibrate;

    #[test]
    fn a_stamp_of_a_set_clock_is_none() {
        let timer = Timer::start(&calibrate());
        std::thread::sleep(std::time::Duration::from_millis(5));
        let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let clock_ns = clock.as_nanos() as u64;
        let now = timer.now_ns();
        let found = on_timer(&timer, clock_ns - 3_000_000).unwrap();
        assert!(found.abs_diff(now - 3_000_000) < 1_000_000_000);
        assert_eq!(on_timer(&timer, clock_ns + 60_000_000_000), None);
        assert_eq!(on_timer(&timer, clock_ns - 60_000_000_000), None);
    }
}
