//! Many datagrams with one system call: sendmmsg(2) and recvmmsg(2).

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::{AsRawFd, BorrowedFd};

/// Datagrams in one call.
pub const MOST: usize = 64;

/// Sends what `packet(0)` to `packet(count - 1)` give, to the peer that the socket is connected
/// to; at most [`MOST`]. Returns how many of the first were sent, at least one; the error is that
/// of the first.
pub fn send<'a>(
    socket: BorrowedFd<'_>,
    count: usize,
    packet: impl Fn(usize) -> &'a [u8],
) -> io::Result<usize> {
    // SAFETY: both are plain data, for which all zeros is a value.
    let (mut parts, mut headers): ([libc::iovec; MOST], [libc::mmsghdr; MOST]) =
        unsafe { std::mem::zeroed() };
    let count = count.min(MOST);
    for (index, (part, header)) in parts.iter_mut().zip(&mut headers).enumerate().take(count) {
        let bytes = packet(index);
        part.iov_base = bytes.as_ptr().cast_mut().cast();
        part.iov_len = bytes.len();
        header.msg_hdr.msg_iov = part;
        header.msg_hdr.msg_iovlen = 1;
    }
    // SAFETY: `count` headers point at one part each, and those at bytes that outlive the call;
    // the kernel only reads them.
    let sent = unsafe {
        libc::sendmmsg(
            socket.as_raw_fd(),
            headers.as_mut_ptr(),
            count as libc::c_uint,
            0,
        )
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Buffers for datagrams and the addresses that they came from.
pub struct Inbox {
    bytes: Vec<u8>,
    stride: usize,
    lengths: [usize; MOST],
    names: Box<[libc::sockaddr_storage; MOST]>,
}

impl Inbox {
    /// `longest`: bytes of the longest datagram; more are cut off.
    #[inline]
    pub fn new(longest: usize) -> Self {
        // Not a power of two: else all buffers begin in the same lines of a cache.
        let stride = longest.next_multiple_of(128) + 64;
        Self {
            bytes: vec![0; stride * MOST],
            stride,
            lengths: [0; MOST],
            // SAFETY: plain data, for which all zeros is a value.
            names: Box::new(unsafe { std::mem::zeroed() }),
        }
    }

    /// Takes what there is, at most [`MOST`] datagrams. A blocking socket waits for the first.
    /// Returns their number.
    pub fn receive(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        // SAFETY: both are plain data, for which all zeros is a value.
        let (mut parts, mut headers): ([libc::iovec; MOST], [libc::mmsghdr; MOST]) =
            unsafe { std::mem::zeroed() };
        for (index, (part, header)) in parts.iter_mut().zip(&mut headers).enumerate() {
            let place = &mut self.bytes[index * self.stride..(index + 1) * self.stride];
            part.iov_base = place.as_mut_ptr().cast();
            part.iov_len = place.len();
            header.msg_hdr.msg_iov = part;
            header.msg_hdr.msg_iovlen = 1;
            header.msg_hdr.msg_name = (&raw mut self.names[index]).cast();
            header.msg_hdr.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        }
        // SAFETY: every header points at a part and a name of its own, and every part at bytes of
        // its own; all outlive the call, and the kernel writes no more than the lengths given.
        let came = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                headers.as_mut_ptr(),
                MOST as libc::c_uint,
                libc::MSG_WAITFORONE as _,
                std::ptr::null_mut(),
            )
        };
        let came = usize::try_from(came).map_err(|_| io::Error::last_os_error())?;
        for (length, header) in self.lengths.iter_mut().zip(&headers).take(came) {
            *length = header.msg_len as usize;
        }
        Ok(came)
    }

    /// The datagram at `index` of the last call.
    #[inline]
    pub fn datagram(&mut self, index: usize) -> &mut [u8] {
        let start = index * self.stride;
        &mut self.bytes[start..start + self.lengths[index]]
    }

    /// Who sent it; none for a family that is not of the Internet.
    pub fn from(&self, index: usize) -> Option<SocketAddr> {
        let name = &self.names[index];
        let start = std::ptr::from_ref(name);
        match i32::from(name.ss_family) {
            libc::AF_INET => {
                // SAFETY: the family states which structure lies here; the storage is aligned for
                // each and long enough.
                let found = unsafe { &*start.cast::<libc::sockaddr_in>() };
                let address = Ipv4Addr::from(u32::from_be(found.sin_addr.s_addr));
                Some((address, u16::from_be(found.sin_port)).into())
            }
            libc::AF_INET6 => {
                // SAFETY: as above.
                let found = unsafe { &*start.cast::<libc::sockaddr_in6>() };
                let address = Ipv6Addr::from(found.sin6_addr.s6_addr);
                let port = u16::from_be(found.sin6_port);
                Some(SocketAddrV6::new(address, port, 0, found.sin6_scope_id).into())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    fn pair(address: &str) -> (UdpSocket, UdpSocket) {
        let (to, from) = (UdpSocket::bind(address), UdpSocket::bind(address));
        let (to, from) = (to.unwrap(), from.unwrap());
        from.connect(to.local_addr().unwrap()).unwrap();
        (from, to)
    }

    #[test]
    fn what_is_sent_is_received_with_its_sender() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let (from, to) = pair(address);
            let packets: Vec<Vec<u8>> = (0..20_u8).map(|n| vec![n; 10 + usize::from(n)]).collect();
            let sent = send(from.as_fd(), packets.len(), |index| &packets[index]).unwrap();
            assert_eq!(sent, packets.len());
            let mut inbox = Inbox::new(1000);
            let mut found = Vec::new();
            while found.len() < packets.len() {
                let came = inbox.receive(to.as_fd()).unwrap();
                for index in 0..came {
                    assert_eq!(inbox.from(index), Some(from.local_addr().unwrap()));
                    found.push(inbox.datagram(index).to_vec());
                }
            }
            assert_eq!(found, packets);
        }
    }

    #[test]
    fn no_more_than_a_call_takes_is_sent() {
        let (from, _to) = pair("127.0.0.1:0");
        assert_eq!(send(from.as_fd(), 1000, |_| b"x").unwrap(), MOST);
    }

    #[test]
    fn a_refusal_is_the_first_ones() {
        let (from, _to) = pair("127.0.0.1:0");
        let long = vec![0; 70_000];
        let sent = send(from.as_fd(), 3, |n| if n == 1 { &long } else { b"x" }).unwrap();
        assert_eq!(sent, 1);
        let error = send(from.as_fd(), 1, |_| &long).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EMSGSIZE));
    }
}
