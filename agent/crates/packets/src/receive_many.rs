//! The receiver that takes all packets that have come with one system call.

use super::flow::{ReceiveFlow, Role};
use super::packet::LONGEST;
use super::receive::{is_quiet, mark_as_echo, set_waiting, Receiver};
use pentathlon_os::mmsg::Inbox;
use std::io::{self, ErrorKind};
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

impl Receiver {
    /// Receives until `over`. The packets of one call share the time at which it returned.
    pub(super) fn many(
        &mut self,
        flow: &ReceiveFlow,
        socket: &UdpSocket,
        over: &AtomicBool,
    ) -> io::Result<()> {
        set_waiting(flow, socket)?;
        let mut inbox = Inbox::new(LONGEST + 1);
        loop {
            match inbox.receive(socket.as_fd()) {
                Ok(came) => {
                    let now = self.timer.now_ns();
                    let mut ours = false;
                    for index in 0..came {
                        let from = inbox.from(index);
                        let packet = inbox.datagram(index);
                        let mine = self.take(now, packet);
                        ours |= mine;
                        if mine && flow.role == Role::Echo {
                            mark_as_echo(packet);
                            // An echo that finds no room is lost like any other packet.
                            from.and_then(|from| socket.send_to(packet, from).ok());
                        }
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
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::ConnectionRefused | ErrorKind::Interrupted
                    ) => {}
                Err(error) => return Err(error),
            }
        }
    }
}
