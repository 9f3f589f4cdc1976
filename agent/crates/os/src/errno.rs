//! Numbers of errors that the standard library has no kind for.

/// The system has no room for what is to be sent: ENOBUFS, on Windows WSAENOBUFS (the `errno` of
/// its C library is another number, which no socket answers).
#[cfg(unix)]
pub const NO_BUFFERS: i32 = libc::ENOBUFS;
#[cfg(windows)]
pub const NO_BUFFERS: i32 = windows_sys::Win32::Networking::WinSock::WSAENOBUFS;
