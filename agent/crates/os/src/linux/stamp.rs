//! Datagrams with the time at which the kernel took them: SO_TIMESTAMPNS (socket(7)).

use crate::socket::set;
use crate::stamps::call;
use std::io;
use std::os::fd::BorrowedFd;

/// Requests the times.
pub fn ask(socket: BorrowedFd<'_>) -> io::Result<()> {
    set(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1_i32)
}

/// Receives one datagram if there is one; its length and its time (CLOCK_REALTIME, ns), which is
/// none if the system gave none.
pub fn receive(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
) -> io::Result<Option<(usize, Option<u64>)>> {
    match call(socket, buffer, std::ptr::null_mut(), libc::MSG_DONTWAIT) {
        Ok(found) => Ok(Some((found.length, found.stamp_ns))),
        Err(error) => match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionRefused => Ok(None),
            _ => Err(error),
        },
    }
}
