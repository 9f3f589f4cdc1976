//! The receiver that takes all packets that have come with one system call.

use super::flow::{ReceiveFlow, Role};
use super::packet::LONGEST;
use super::receive::{mark_as_echo, until_over, Receiver};
use pentathlon_os::mmsg::Inbox;
use std::io;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::atomic::AtomicBool;

impl Receiver {
    /// Receives until `over`. The packets of one call share the time at which it returned.
    pub(super) fn many(
        &mut self,
        flow: &ReceiveFlow,
        socket: &UdpSocket,
        over: &AtomicBool,
    ) -> io::Result<()> {
        let mut inbox = Inbox::new(LONGEST + 1);
        until_over(flow, socket, over, || {
            let came = inbox.receive(socket.as_fd())?;
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
            Ok(ours)
        })
    }
}
