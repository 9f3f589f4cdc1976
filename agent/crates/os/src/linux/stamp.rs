//! Datagrams with the time at which the kernel took them: SO_TIMESTAMPNS (socket(7)).

use crate::socket::set;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

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
    // Aligned as a control message must be, and with room for several.
    let mut control = [0_u64; 16];
    let mut part = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: plain data, for which all zeros is a value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: the message points at one part and at the control bytes; both outlive the call, and
    // the kernel writes no more than their lengths.
    let length = unsafe { libc::recvmsg(socket.as_raw_fd(), &mut message, libc::MSG_DONTWAIT) };
    let Ok(length) = usize::try_from(length) else {
        let error = io::Error::last_os_error();
        return match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionRefused => Ok(None),
            _ => Err(error),
        };
    };
    // SAFETY: the kernel has set the length of the control bytes; each message among them begins
    // with its header, and one of this type holds a timespec, which need not be aligned.
    let time_ns = unsafe {
        let mut found = None;
        let mut header = libc::CMSG_FIRSTHDR(&message);
        while !header.is_null() {
            if (*header).cmsg_level == libc::SOL_SOCKET
                && (*header).cmsg_type == libc::SCM_TIMESTAMPNS
            {
                let time: libc::timespec = libc::CMSG_DATA(header)
                    .cast::<libc::timespec>()
                    .read_unaligned();
                found = Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64);
            }
            header = libc::CMSG_NXTHDR(&message, header);
        }
        found
    };
    Ok(Some((length, time_ns)))
}
