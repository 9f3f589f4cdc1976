//! A window of the system in which frames are shown, and what is seen of it.

#[cfg(all(unix, not(target_vendor = "apple")))]
mod x11;
#[cfg(all(unix, not(target_vendor = "apple")))]
pub use x11::Window;

#[cfg(windows)]
mod win32;
#[cfg(windows)]
pub use win32::Window;

#[cfg(target_vendor = "apple")]
mod absent;
#[cfg(target_vendor = "apple")]
pub use absent::Window;
