//! The queueing disciplines of all network devices: `RTM_GETQDISC` (rtnetlink(7)).

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const RTM_NEWQDISC: u16 = 36;
const RTM_GETQDISC: u16 = 38;
const TC_H_ROOT: u32 = 0xFFFF_FFFF;
const TCA_KIND: u16 = 1;
/// Lengths of struct nlmsghdr and struct tcmsg.
const HEADER: usize = 16;
const MESSAGE: usize = 20;

/// The kind of the root discipline of each device, by interface index.
pub fn roots() -> io::Result<BTreeMap<i32, String>> {
    let socket = open()?;
    let mut request = [0_u8; HEADER + MESSAGE];
    request[..4].copy_from_slice(&((HEADER + MESSAGE) as u32).to_ne_bytes());
    request[4..6].copy_from_slice(&RTM_GETQDISC.to_ne_bytes());
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    request[6..8].copy_from_slice(&flags.to_ne_bytes());
    // SAFETY: the kernel reads the request's length from it.
    let sent = unsafe {
        libc::send(
            socket.as_raw_fd(),
            request.as_ptr().cast(),
            request.len(),
            0,
        )
    };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut found = BTreeMap::new();
    let mut buffer = vec![0_u8; 64 * 1024];
    loop {
        // SAFETY: the kernel writes at most the buffer's length.
        let length = unsafe {
            libc::recv(
                socket.as_raw_fd(),
                buffer.as_mut_ptr().cast(),
                buffer.len(),
                0,
            )
        };
        match usize::try_from(length) {
            Err(_) => return Err(io::Error::last_os_error()),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => {
                if read(&buffer[..length], &mut found)? {
                    return Ok(found);
                }
            }
        }
    }
}

fn open() -> io::Result<OwnedFd> {
    // SAFETY: plain integers, and a timeval that is valid for the call; the descriptor is new and
    // ours. The time limit keeps a system that never answers from holding us.
    unsafe {
        let fd = libc::socket(
            libc::AF_NETLINK,
            libc::SOCK_RAW | libc::SOCK_CLOEXEC,
            libc::NETLINK_ROUTE,
        );
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        let socket = OwnedFd::from_raw_fd(fd);
        let limit = libc::timeval {
            tv_sec: 0,
            tv_usec: 200_000,
        };
        libc::setsockopt(
            fd,
            libc::SOL_SOCKET,
            libc::SO_RCVTIMEO,
            (&raw const limit).cast(),
            std::mem::size_of::<libc::timeval>() as libc::socklen_t,
        );
        Ok(socket)
    }
}

/// Reads the messages of one answer; true if the last of all was among them.
fn read(mut bytes: &[u8], found: &mut BTreeMap<i32, String>) -> io::Result<bool> {
    while bytes.len() >= HEADER {
        let length = u32_at(bytes, 0) as usize;
        if length < HEADER || length > bytes.len() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let (kind, body) = (u16_at(bytes, 4), &bytes[HEADER..length]);
        match i32::from(kind) {
            libc::NLMSG_DONE => return Ok(true),
            libc::NLMSG_ERROR if body.len() >= 4 => {
                return Err(io::Error::from_raw_os_error(
                    (u32_at(body, 0) as i32).wrapping_neg(),
                ));
            }
            libc::NLMSG_ERROR => return Err(io::ErrorKind::InvalidData.into()),
            _ if kind == RTM_NEWQDISC && body.len() >= MESSAGE => {
                // struct tcmsg: family, padding, ifindex, handle, parent, info.
                let (index, parent) = (u32_at(body, 4) as i32, u32_at(body, 12));
                if let (TC_H_ROOT, Some(name)) = (parent, attribute(&body[MESSAGE..])) {
                    found.insert(index, name);
                }
            }
            _ => {}
        }
        bytes = &bytes[length.next_multiple_of(4).min(bytes.len())..];
    }
    Ok(false)
}

/// The text of TCA_KIND among the attributes of a message.
fn attribute(mut bytes: &[u8]) -> Option<String> {
    while bytes.len() >= 4 {
        let length = usize::from(u16_at(bytes, 0));
        if length < 4 || length > bytes.len() {
            return None;
        }
        if u16_at(bytes, 2) == TCA_KIND {
            let text = String::from_utf8_lossy(&bytes[4..length]);
            return Some(text.trim_end_matches('\0').to_owned());
        }
        bytes = &bytes[length.next_multiple_of(4).min(bytes.len())..];
    }
    None
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER];
        bytes[..4].copy_from_slice(&((HEADER + body.len()) as u32).to_ne_bytes());
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes.extend_from_slice(body);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn qdisc(index: i32, parent: u32, kind: &str) -> Vec<u8> {
        let mut body = vec![0; MESSAGE];
        body[4..8].copy_from_slice(&index.to_ne_bytes());
        body[12..16].copy_from_slice(&parent.to_ne_bytes());
        body.extend_from_slice(&(4 + kind.len() as u16 + 1).to_ne_bytes());
        body.extend_from_slice(&TCA_KIND.to_ne_bytes());
        body.extend_from_slice(kind.as_bytes());
        body.push(0);
        message(RTM_NEWQDISC, &body)
    }

    #[test]
    fn roots_are_kept_and_children_are_not() {
        let mut bytes = qdisc(2, TC_H_ROOT, "mq");
        bytes.extend(qdisc(2, 0x10001, "fq_codel"));
        bytes.extend(qdisc(1, TC_H_ROOT, "noqueue"));
        let mut found = BTreeMap::new();
        assert!(!read(&bytes, &mut found).unwrap());
        bytes.extend(message(libc::NLMSG_DONE as u16, &[0; 4]));
        assert!(read(&bytes, &mut found).unwrap());
        assert_eq!(
            found,
            BTreeMap::from([(1, "noqueue".into()), (2, "mq".into())])
        );
    }

    #[test]
    fn an_error_of_the_kernel_is_an_error() {
        let refusal = message(libc::NLMSG_ERROR as u16, &(-libc::EPERM).to_ne_bytes());
        let error = read(&refusal, &mut BTreeMap::new()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EPERM));
    }

    #[test]
    fn any_bytes_are_survived() {
        let good = [qdisc(2, TC_H_ROOT, "mq"), qdisc(3, TC_H_ROOT, "pfifo_fast")].concat();
        for at in 0..good.len() {
            for value in [0, 1, 3, 16, 40, 127, 255] {
                let mut bad = good.clone();
                bad[at] = value;
                let _ = read(&bad, &mut BTreeMap::new());
                let _ = read(&bad[..at], &mut BTreeMap::new());
            }
        }
    }
}
