//! `graphics.windows`: real translucent windows of the window system, each of them looked at.

#[cfg(windows)]
mod win32;
#[cfg(all(unix, not(target_vendor = "apple")))]
mod x11;

#[cfg(windows)]
use win32 as system;
#[cfg(all(unix, not(target_vendor = "apple")))]
use x11 as system;

use super::parameters::cases;
use crate::gpu::window::Window;
use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{Context, Failure, Reading};
use pentathlon_harness::Workload;
use pentathlon_protocol::catalog::{self, Direction, Factor, Metric, Semantics};
use pentathlon_protocol::Case;
use serde_json::json;
use std::time::Duration;

pub struct Windows;

/// What is opened.
const KINDS: [&str; 1] = ["translucent"];

/// Side of a window and of the backdrop, in pixels.
const WINDOW: u16 = 120;
const BACKDROP: u16 = 400;
/// Colour of the backdrop; half of white over it gives [`BLENDED`].
const BELOW: u32 = 0x0020_4060;
const BLENDED: u32 = 0x0090_a0b0;
/// Longest wait until a window is composed.
const PATIENCE: Duration = Duration::from_secs(5);

/// A desk on which windows can be opened.
trait Desk {
    /// Opens a translucent window, waits until it is seen blended with what lies below, closes it,
    /// and waits until it is gone. Returns the colour that was seen.
    fn window(&mut self, number: u64) -> Result<u32, Failure>;
}

impl Workload for Windows {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "graphics.windows",
            title: "Transparent windows",
            summary:
                "A translucent window is opened over a backdrop, looked at until its colour is \
                      blended with the backdrop's, and closed: windows that are never composed do \
                      not count.",
            source: "martinovic2012 §4.1, Tab. 7, Tab. 14 (PCMark05 transparent windows)",
            parameters: vec![cases(
                "window",
                KINDS.to_vec(),
                "the windows that are opened",
            )],
            factors: vec![Factor::category("window", "windows")],
            metrics: vec![Metric::new(
                "rate",
                "Windows opened, composed and closed",
                "windows/s",
                Direction::Higher,
            )],
            checksum: "sum of the blended colours that were seen, by window",
            semantics: Semantics {
                linux: "X11 with a compositing manager; without one windows are not blended, and \
                        under Wayland no program may look at the screen: unsupported",
                windows: "layered windows, which the Desktop Window Manager composes",
            },
        }
    }

    fn timeout_s(&self) -> Option<f64> {
        Some(120.0)
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let mut desk = desk()?;
        context.counter("graphics_window".into(), json!({"system": Window::SYSTEM}));
        for kind in context.parameters.clone().texts("window") {
            let case = Case::new().with("window", kind);
            context.rounds(&case, |clock, wanted_ns| {
                round(desk.as_mut(), clock, wanted_ns, &case)
            });
        }
        Ok(())
    }
}

/// The desk of this system.
///
/// # Errors
/// It is not there (`unsupported`), or cannot be used.
fn desk() -> Result<Box<dyn Desk>, Failure> {
    #[cfg(not(target_vendor = "apple"))]
    return Ok(Box::new(system::desk()?));
    #[cfg(target_vendor = "apple")]
    Err(Failure::Unsupported(
        "windows of macOS are not opened yet".into(),
    ))
}

/// Where a window is opened, in pixels from the upper left both ways: elsewhere each time, so that
/// one that is left over is not taken for the next.
fn place(number: u64) -> i16 {
    i16::try_from(10 + number % 13 * 20).expect("small")
}

/// Whether each part of two colours differs by no more than the rounding of a blend.
fn near(a: u32, b: u32) -> bool {
    a.to_le_bytes()
        .iter()
        .zip(b.to_le_bytes())
        .all(|(a, b)| a.abs_diff(b) <= 2)
}

/// A window that was opened and not composed.
fn unseen(seen: u32, wanted: u32) -> Failure {
    Failure::Invalid(format!(
        "a window was not composed within {} s: the screen shows #{seen:06x} where #{wanted:06x} is \
         right",
        PATIENCE.as_secs()
    ))
}

/// Windows one after another for about `wanted_ns`.
fn round(
    desk: &mut dyn Desk,
    clock: &Clock,
    wanted_ns: f64,
    case: &Case,
) -> Result<Vec<Reading>, Failure> {
    let from = clock.ticks();
    let mut windows = 0u64;
    let mut color = 0;
    let elapsed_ns = loop {
        color = desk.window(windows)?.max(color);
        windows += 1;
        let elapsed = clock.elapsed_ns(from, clock.ticks());
        if windows >= 4 && elapsed >= wanted_ns {
            break elapsed;
        }
    };
    Ok(vec![Reading {
        metric: "rate",
        case: case.clone(),
        value: windows as f64 / elapsed_ns * 1e9,
        operations: windows,
        elapsed_ns,
        checksum: u64::from(color),
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_white_over_the_backdrop_is_the_blended_colour_and_neither_of_them_is() {
        let blend = |part: u32| 0x80 + part * (255 - 0x80) / 255;
        let made = (blend(0x20) << 16) | (blend(0x40) << 8) | blend(0x60);
        assert!(near(made, BLENDED), "{made:06x}");
        assert!(!near(BELOW, BLENDED) && !near(0x0080_8080, BLENDED));
    }
}
