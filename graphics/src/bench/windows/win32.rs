//! Windows of Win32: layered windows, which the Desktop Window Manager composes.

use super::{near, Desk, BACKDROP, BELOW, BLENDED, PATIENCE, WINDOW};
use crate::sys::win32::{self, Pane};
use pentathlon_harness::measure::Failure;
use std::time::Instant;

/// White, half of which is seen.
const GLASS: (u32, u8) = (0x00ff_ffff, 0x80);

struct Win32 {
    /// Open as long as windows are opened over it.
    _backdrop: Pane,
}

/// A backdrop on the desktop.
///
/// # Errors
/// There is no desktop (`unsupported`), or it does not show the backdrop.
pub fn desk() -> Result<impl Desk, Failure> {
    let side = i32::from(BACKDROP);
    let backdrop = Pane::open((0, 0), (side, side), BELOW, 255)
        .map_err(|error| Failure::Unsupported(format!("no window can be opened: {error}")))?;
    wait(side / 2, BELOW)?;
    Ok(Win32 {
        _backdrop: backdrop,
    })
}

/// Waits until the screen shows this colour at a place on its diagonal, within the rounding of a
/// blend.
fn wait(at: i32, wanted: u32) -> Result<(), Failure> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        win32::answer_all();
        let seen = win32::color(at, at)
            .map_err(|error| Failure::Failed(format!("the screen cannot be looked at: {error}")))?;
        if near(seen, wanted) {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(super::unseen(seen, wanted));
        }
    }
}

impl Desk for Win32 {
    fn window(&mut self, number: u64) -> Result<u32, Failure> {
        let place = i32::from(super::place(number));
        let side = i32::from(WINDOW);
        let (color, opacity) = GLASS;
        let window = Pane::open((place, place), (side, side), color, opacity)
            .map_err(|error| Failure::Failed(format!("a window cannot be opened: {error}")))?;
        let middle = place + side / 2;
        wait(middle, BLENDED)?;
        drop(window);
        wait(middle, BELOW)?;
        Ok(BLENDED)
    }
}
