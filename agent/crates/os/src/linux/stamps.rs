//! The kernel's own times of datagrams: SO_TIMESTAMPING (kernel documentation,
//! networking/timestamping), in nanoseconds since 1970 on CLOCK_REALTIME.

use socket2::SockAddr;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd};

const TX_SOFTWARE: u32 = 1 << 1;
const RX_SOFTWARE: u32 = 1 << 3;
const SOFTWARE: u32 = 1 << 4;
/// Number the datagrams, and give back their times without what they hold.
const OPT_ID: u32 = 1 << 7;
const OPT_TSONLY: u32 = 1 << 11;

/// `ee_origin` of times of sending (linux/errqueue.h).
const ORIGIN_TIMESTAMPING: u8 = 4;

/// Words of 8 bytes for control messages: three times and an extended error, with room.
const CONTROL_WORDS: usize = 64;

/// Requests the time at which datagrams came to the stack.
pub fn of_arrivals(socket: BorrowedFd<'_>) -> io::Result<()> {
    enable(socket, RX_SOFTWARE | SOFTWARE)
}

/// Requests the time at which datagrams were handed to the device.
pub fn of_departures(socket: BorrowedFd<'_>) -> io::Result<()> {
    enable(socket, TX_SOFTWARE | SOFTWARE | OPT_ID | OPT_TSONLY)
}

fn enable(socket: BorrowedFd<'_>, flags: u32) -> io::Result<()> {
    crate::socket::set(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &flags)
}

/// One datagram.
pub struct Arrival {
    pub length: usize,
    pub from: Option<SocketAddr>,
    /// ns since 1970; none if the kernel did not stamp it.
    pub stamp_ns: Option<u64>,
}

/// Receives one datagram and the kernel's time of its arrival.
pub fn receive(socket: BorrowedFd<'_>, packet: &mut [u8]) -> io::Result<Arrival> {
    // SAFETY: the storage is that of a socket address of any family; the kernel writes its length.
    let (found, from) = unsafe {
        SockAddr::try_init(|name, name_length| {
            let found = call(socket, packet, name.cast(), 0)?;
            *name_length = found.name_length;
            Ok(found)
        })
    }?;
    Ok(Arrival {
        length: found.length,
        from: from.as_socket(),
        stamp_ns: found.stamp_ns,
    })
}

/// The next time of sending: the datagram's number from 0, and ns since 1970. None if there is no
/// further one now; never waits.
pub fn departure(socket: BorrowedFd<'_>) -> io::Result<Option<(u32, u64)>> {
    let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
    match call(socket, &mut [], std::ptr::null_mut(), flags) {
        Ok(found) => Ok(Some((
            found.number.unwrap_or(u32::MAX),
            found.stamp_ns.unwrap_or_default(),
        ))),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

/// A datagram, and what its control messages say.
#[derive(Default)]
pub(super) struct Found {
    /// Bytes of the datagram, and of the name.
    pub length: usize,
    name_length: libc::socklen_t,
    /// The kernel's time, ns since 1970.
    pub stamp_ns: Option<u64>,
    /// The number of the datagram that was sent.
    number: Option<u32>,
}

/// recvmsg(2). `name` is null, or a whole sockaddr_storage.
pub(super) fn call(
    socket: BorrowedFd<'_>,
    packet: &mut [u8],
    name: *mut libc::c_void,
    flags: libc::c_int,
) -> io::Result<Found> {
    let mut control = [0_u64; CONTROL_WORDS];
    let mut part = libc::iovec {
        iov_base: packet.as_mut_ptr().cast(),
        iov_len: packet.len(),
    };
    // SAFETY: plain data, for which all zeros is a value.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(&control) as _;
    header.msg_name = name;
    if !name.is_null() {
        header.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
    }
    // SAFETY: every pointer is to memory of the length beside it that outlives the call; a name, if
    // there is one, is a whole sockaddr_storage.
    let got = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, flags) };
    let mut found = Found {
        length: usize::try_from(got).map_err(|_| io::Error::last_os_error())?,
        name_length: header.msg_namelen,
        ..Found::default()
    };
    // SAFETY: the kernel has filled in the header; CMSG_FIRSTHDR and CMSG_NXTHDR stay within what
    // it says, and the data of each message is read unaligned and only as far as it is long.
    unsafe {
        let mut message = libc::CMSG_FIRSTHDR(&raw const header);
        while !message.is_null() {
            let data = libc::CMSG_DATA(message);
            let long = (*message).cmsg_len as usize - (data as usize - message as usize);
            match ((*message).cmsg_level, (*message).cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING | libc::SCM_TIMESTAMPNS)
                    if long >= size_of::<libc::timespec>() =>
                {
                    let time = data.cast::<libc::timespec>().read_unaligned();
                    if time.tv_sec > 0 {
                        let ns = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
                        found.stamp_ns = Some(ns);
                    }
                }
                (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR)
                    if long >= size_of::<libc::sock_extended_err>() =>
                {
                    let error = data.cast::<libc::sock_extended_err>().read_unaligned();
                    if error.ee_origin == ORIGIN_TIMESTAMPING {
                        found.number = Some(error.ee_data);
                    }
                }
                _ => {}
            }
            message = libc::CMSG_NXTHDR(&raw const header, message);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::os::fd::AsFd;
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    fn now_ns() -> u64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_nanos() as u64
    }

    #[test]
    fn both_times_of_a_datagram_lie_between_its_calls() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let (to, from) = (
                UdpSocket::bind(address).unwrap(),
                UdpSocket::bind(address).unwrap(),
            );
            from.connect(to.local_addr().unwrap()).unwrap();
            of_arrivals(to.as_fd()).unwrap();
            of_departures(from.as_fd()).unwrap();
            let mut stamped = 0;
            for number in 0..200_u32 {
                let before = now_ns();
                from.send(&[7; 40]).unwrap();
                let mut packet = [0; 100];
                let came = receive(to.as_fd(), &mut packet).unwrap();
                let after = now_ns();
                assert_eq!((came.length, packet[39], packet[40]), (40, 7, 0));
                assert_eq!(came.from, Some(from.local_addr().unwrap()));
                // The kernel switches stamping on a little later than it is requested.
                if let Some(arrived) = came.stamp_ns {
                    assert!(before <= arrived && arrived <= after);
                    let (of, left) = departure(from.as_fd()).unwrap().unwrap();
                    assert_eq!(of, number);
                    assert!(before <= left && left <= after);
                    stamped += 1;
                }
                while departure(from.as_fd()).unwrap().is_some() {
                    assert_eq!(came.stamp_ns, None, "one packet has one time of departure");
                }
                if stamped == 3 {
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            assert_eq!(stamped, 3);
        }
    }
}
