//! Options of sockets that the standard library does not know (socket(7)).

use crate::call::check;
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
    check(done == 0)
}

/// Reads an option of a socket, of whole numbers; how many bytes the kernel wrote.
pub(crate) fn get<T: Number, const N: usize>(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    words: &mut [T; N],
) -> io::Result<usize> {
    let mut length = size_of_val(words) as libc::socklen_t;
    let place = words.as_mut_ptr().cast();
    // SAFETY: the words are as long as the length says, and any bytes are numbers.
    let done = unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, place, &raw mut length) };
    check(done == 0)?;
    Ok(length as usize)
}

/// What the kernel writes, any bytes of which are one.
pub(crate) trait Number: Copy {}
impl Number for u32 {}
impl Number for u64 {}

/// Bytes of data that a connection has sent, those sent again included, and of these the ones that
/// were sent again: `tcpi_bytes_sent` and `tcpi_bytes_retrans` of TCP_INFO (linux/tcp.h). None before
/// Linux 4.19, which has no such counts.
pub fn sent_and_again(socket: BorrowedFd<'_>) -> Option<(u64, u64)> {
    /// Where the first count lies in `struct tcp_info`, in words of 8 bytes.
    const BYTES_SENT: usize = 200 / 8;
    let mut words = [0_u64; 32];
    let length = get(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut words).ok()?;
    (length >= 8 * (BYTES_SENT + 2)).then(|| (words[BYTES_SENT], words[BYTES_SENT + 1]))
}

/// Packets that came and found no room in the socket's buffer: the last word of SO_MEMINFO
/// (linux/sock_diag.h). None before Linux 4.12, which does not report.
pub fn dropped(socket: BorrowedFd<'_>) -> Option<u64> {
    const DROPS: usize = 8;
    let mut words = [0_u32; 16];
    let length = get(socket, libc::SOL_SOCKET, libc::SO_MEMINFO, &mut words).ok()?;
    (length >= 4 * (DROPS + 1)).then(|| words[DROPS].into())
}

/// The receive buffer, beyond the limit `net.core.rmem_max`: SO_RCVBUFFORCE, for which the
/// process needs CAP_NET_ADMIN.
#[inline]
pub fn force_receive_buffer(socket: BorrowedFd<'_>, bytes: usize) -> io::Result<()> {
    let bytes = libc::c_int::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput)?;
    set(socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::fd::AsFd;

    #[test]
    fn packets_without_room_are_counted() {
        let to = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket2::SockRef::from(&to).set_recv_buffer_size(0).unwrap();
        assert_eq!(dropped(to.as_fd()), Some(0));
        let from = UdpSocket::bind("127.0.0.1:0").unwrap();
        for _ in 0..100 {
            from.send_to(&[0; 500], to.local_addr().unwrap()).unwrap();
        }
        to.set_nonblocking(true).unwrap();
        let came = (0..).take_while(|_| to.recv(&mut [0; 500]).is_ok()).count() as u64;
        assert!(came < 100);
        assert_eq!(dropped(to.as_fd()), Some(100 - came));
    }

    #[test]
    fn bytes_of_a_connection_are_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut from = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut to, _) = listener.accept().unwrap();
        from.write_all(&[1; 5000]).unwrap();
        to.read_exact(&mut [0; 5000]).unwrap();
        let (sent, again) = sent_and_again(from.as_fd()).unwrap();
        assert!(sent >= 5000 && sent - again == 5000, "{sent} {again}");
    }
}
