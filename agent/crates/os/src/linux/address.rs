//! Brings an interface up and gives it addresses: the ioctls of netdevice(7) and of ipv6(7).

use crate::interface::named;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// `struct in6_ifreq` of linux/ipv6.h.
#[repr(C)]
struct Request6 {
    address: [u8; 16],
    prefix: u32,
    index: i32,
}

/// Has a new interface of two hosts, before it is up, send next to nothing unasked: IPv6 asks for routers
/// (RFC 4861 6.3.7), tests its addresses for duplicates (RFC 4862 5.4), so that a new one cannot be
/// used for a second, and reports its groups (RFC 3810) for up to a quarter of a minute, in the
/// middle of a trial. Where the kernel has no IPv6, or no such setting, there is nothing to do.
pub fn silence(name: &str) {
    for (setting, value) in [
        ("router_solicitations", "0"),
        ("accept_dad", "0"),
        ("mldv2_unsolicited_report_interval", "1"),
    ] {
        std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/{setting}"), value).ok();
    }
}

/// Brings the interface up, as `ip link set NAME up` does.
pub fn up(name: &str) -> io::Result<()> {
    let socket = socket(libc::AF_INET)?;
    let mut request = named(name)?;
    // SAFETY: the request is valid and ends its name with NUL; the kernel fills in the flags, which
    // are then the live field of the union.
    unsafe {
        control(&socket, libc::SIOCGIFFLAGS, (&raw mut request).cast())?;
        request.ifr_ifru.ifru_flags |= libc::IFF_UP as libc::c_short;
        control(&socket, libc::SIOCSIFFLAGS, (&raw mut request).cast())
    }
}

/// Adds an address with its prefix to the interface.
pub fn add(name: &str, address: IpAddr, prefix: u8) -> io::Result<()> {
    match address {
        IpAddr::V4(address) => add4(name, address, prefix),
        IpAddr::V6(address) => add6(name, address, prefix),
    }
}

fn add4(name: &str, address: Ipv4Addr, prefix: u8) -> io::Result<()> {
    let socket = socket(libc::AF_INET)?;
    let mask = u32::MAX
        .checked_shl(32 - u32::from(prefix.min(32)))
        .unwrap_or(0);
    for (code, value) in [
        (libc::SIOCSIFADDR, u32::from(address)),
        (libc::SIOCSIFNETMASK, mask),
    ] {
        let mut request = named(name)?;
        // SAFETY: sockaddr_in is plain data and fits into the request's sockaddr.
        unsafe {
            let mut place: libc::sockaddr_in = std::mem::zeroed();
            place.sin_family = libc::AF_INET as libc::sa_family_t;
            place.sin_addr.s_addr = value.to_be();
            request.ifr_ifru.ifru_addr =
                std::mem::transmute::<libc::sockaddr_in, libc::sockaddr>(place);
            control(&socket, code, (&raw mut request).cast())?;
        }
    }
    Ok(())
}

fn add6(name: &str, address: Ipv6Addr, prefix: u8) -> io::Result<()> {
    let socket = socket(libc::AF_INET6)?;
    let mut lookup = named(name)?;
    // SAFETY: both requests are valid; the kernel fills in the index, which is then the live field.
    unsafe {
        control(&socket, libc::SIOCGIFINDEX, (&raw mut lookup).cast())?;
        let mut request = Request6 {
            address: address.octets(),
            prefix: prefix.into(),
            index: lookup.ifr_ifru.ifru_ifindex,
        };
        control(&socket, libc::SIOCSIFADDR, (&raw mut request).cast())
    }
}

fn socket(family: i32) -> io::Result<OwnedFd> {
    // SAFETY: the descriptor is checked and is ours alone.
    unsafe {
        let descriptor = libc::socket(family, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(descriptor))
    }
}

/// # Safety
/// `request` must be what the code asks for.
unsafe fn control(
    socket: &OwnedFd,
    code: libc::Ioctl,
    request: *mut libc::c_void,
) -> io::Result<()> {
    // SAFETY: the caller's promise.
    if unsafe { libc::ioctl(socket.as_raw_fd(), code, request) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
