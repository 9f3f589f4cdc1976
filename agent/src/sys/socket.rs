//! Options of sockets that the standard library does not know (socket(7)).

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Sets an option of a socket to a plain value.
pub fn set<T: Copy>(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: &T,
) -> io::Result<()> {
    // SAFETY: the value is as long as the length says, and the kernel only reads it.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The receive buffer, beyond the limit `net.core.rmem_max`: SO_RCVBUFFORCE, for which the
/// process needs CAP_NET_ADMIN.
pub fn force_receive_buffer(socket: BorrowedFd<'_>, bytes: usize) -> io::Result<()> {
    let bytes = libc::c_int::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput)?;
    set(socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &bytes)
}
