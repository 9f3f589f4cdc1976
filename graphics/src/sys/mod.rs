//! What only a system's own interface offers. All `unsafe` of this program is below here.

#[cfg(all(unix, not(target_vendor = "apple")))]
#[allow(unsafe_code)]
pub mod x11;

#[cfg(windows)]
#[allow(unsafe_code)]
pub mod win32;
