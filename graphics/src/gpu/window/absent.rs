//! Systems whose windows are not opened yet.

use crate::picture::Picture;
use pentathlon_harness::measure::Failure;
use wgpu::rwh::{DisplayHandle, HandleError, HasDisplayHandle, HasWindowHandle, WindowHandle};

/// There is none.
pub enum Window {}

/// What a driver is given of a window.
#[derive(Clone, Debug)]
pub enum Handle {}

impl Window {
    pub const SYSTEM: &'static str = "none";

    /// # Errors
    /// Always: `unsupported`.
    pub fn open(_width: u32, _height: u32) -> Result<Self, Failure> {
        Err(Failure::Unsupported(format!(
            "frames are not shown in a window on {} yet",
            std::env::consts::OS
        )))
    }

    pub fn handle(&self) -> Handle {
        match *self {}
    }

    /// # Errors
    /// Never: there is no window.
    pub fn look(&self) -> Result<Picture, Failure> {
        match *self {}
    }
}

impl HasDisplayHandle for Handle {
    fn display_handle(&self) -> Result<DisplayHandle<'_>, HandleError> {
        match *self {}
    }
}

impl HasWindowHandle for Handle {
    fn window_handle(&self) -> Result<WindowHandle<'_>, HandleError> {
        match *self {}
    }
}
