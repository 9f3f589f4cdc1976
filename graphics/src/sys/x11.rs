//! A window of the X Window System, as drivers get it.

use std::num::NonZeroU32;
use wgpu::rwh::{DisplayHandle, HandleError, HasDisplayHandle, HasWindowHandle, WindowHandle};
use wgpu::rwh::{XcbDisplayHandle, XcbWindowHandle};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::ConnectionExt;
use x11rb::xcb_ffi::XCBConnection;

/// A window and the connection that it was opened by; it is closed with the last one who knows it.
pub struct Shown {
    pub connection: XCBConnection,
    pub window: u32,
}

impl std::fmt::Debug for Shown {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "X11 window {:#x}", self.window)
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.connection.destroy_window(self.window).ok();
        self.connection.flush().ok();
    }
}

impl HasDisplayHandle for Shown {
    fn display_handle(&self) -> Result<DisplayHandle<'_>, HandleError> {
        let connection = std::ptr::NonNull::new(self.connection.get_raw_xcb_connection());
        // The window is on the first screen.
        let raw = XcbDisplayHandle::new(connection.map(std::ptr::NonNull::cast), 0);
        // SAFETY: the connection is open as long as `self`, which the handle borrows.
        Ok(unsafe { DisplayHandle::borrow_raw(raw.into()) })
    }
}

impl HasWindowHandle for Shown {
    fn window_handle(&self) -> Result<WindowHandle<'_>, HandleError> {
        let window = NonZeroU32::new(self.window).ok_or(HandleError::NotSupported)?;
        // SAFETY: the window is open as long as `self`, which the handle borrows.
        Ok(unsafe { WindowHandle::borrow_raw(XcbWindowHandle::new(window).into()) })
    }
}
