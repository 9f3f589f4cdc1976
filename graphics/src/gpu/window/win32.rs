//! A window of Win32.

use crate::picture::Picture;
use crate::sys::win32::{self, Pane};
use pentathlon_harness::measure::Failure;

pub use crate::sys::win32::Handle;

/// A window without a frame, above all others, at the upper left of the screen.
pub struct Window {
    pane: Pane,
    width: u32,
    height: u32,
}

impl Window {
    /// Name of the window system.
    pub const SYSTEM: &'static str = "Win32";

    /// Opens one of this size, in pixels.
    ///
    /// # Errors
    /// There is no desktop, or none on which it fits (`unsupported`).
    pub fn open(width: u32, height: u32) -> Result<Self, Failure> {
        let (most_wide, most_high) = win32::screen_size();
        let size = (
            i32::try_from(width).unwrap_or(i32::MAX),
            i32::try_from(height).unwrap_or(i32::MAX),
        );
        if size.0 > most_wide || size.1 > most_high {
            return Err(Failure::Unsupported(format!(
                "the display has {most_wide}x{most_high} pixels, too few for a window of \
                 {width}x{height}"
            )));
        }
        let pane = Pane::open((0, 0), size, 0, 255)
            .map_err(|error| Failure::Unsupported(format!("no window can be opened: {error}")))?;
        Ok(Self {
            pane,
            width,
            height,
        })
    }

    pub fn handle(&self) -> Handle {
        self.pane.handle()
    }

    /// What the screen shows in its place now.
    ///
    /// # Errors
    /// The screen cannot be copied.
    pub fn look(&self) -> Result<Picture, Failure> {
        win32::answer_all();
        let rgb = win32::picture(self.width as i32, self.height as i32)
            .map_err(|error| Failure::Failed(format!("the window cannot be looked at: {error}")))?;
        Ok(Picture::new(self.width, self.height, rgb))
    }
}
