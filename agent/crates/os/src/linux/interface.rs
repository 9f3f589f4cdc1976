//! The network interfaces of a system that does not list them in `/sys`: `if_nameindex(3)` and
//! the `SIOCGIFMTU` ioctl (netdevice(7)).

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Index and name of every interface.
pub fn list() -> io::Result<Vec<(u32, String)>> {
    let mut found = Vec::new();
    // SAFETY: the list ends with an entry of index 0 and a null name; every name before it ends
    // with NUL. It is copied before it is freed.
    unsafe {
        let list = libc::if_nameindex();
        if list.is_null() {
            return Err(io::Error::last_os_error());
        }
        let mut entry = list;
        while (*entry).if_index != 0 && !(*entry).if_name.is_null() {
            let name = CStr::from_ptr((*entry).if_name).to_string_lossy();
            found.push(((*entry).if_index, name.into_owned()));
            entry = entry.add(1);
        }
        libc::if_freenameindex(list);
    }
    Ok(found)
}

/// Maximum transmission unit in bytes; `socket` is any socket of the internet family.
pub fn mtu_bytes(socket: BorrowedFd<'_>, name: &str) -> io::Result<u64> {
    let mut request = named(name)?;
    // SAFETY: the request is valid and ends its name with NUL; the kernel fills in the MTU, which
    // is then the live field of the union.
    let mtu = unsafe {
        if libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFMTU as _, &mut request) < 0 {
            return Err(io::Error::last_os_error());
        }
        request.ifr_ifru.ifru_mtu
    };
    u64::try_from(mtu).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// A request about the interface `name`, everything else zero.
pub fn named(name: &str) -> io::Result<libc::ifreq> {
    // SAFETY: ifreq is plain data, for which all zeros is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let name = name.as_bytes();
    if name.is_empty() || name.len() >= request.ifr_name.len() || name.contains(&0) {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    for (place, &byte) in request.ifr_name.iter_mut().zip(name) {
        *place = byte as libc::c_char;
    }
    Ok(request)
}
