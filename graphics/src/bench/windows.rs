//! `graphics.windows`: real translucent windows of the window system, each of them looked at.

mod x11;

use pentathlon_agent::catalog::{self, Direction, Factor, Indicator, Parameter, Semantics, Type};
use pentathlon_agent::clock::Clock;
use pentathlon_agent::measure::{Context, Failure, Reading};
use pentathlon_agent::protocol::Case;
use pentathlon_agent::workloads::Workload;
use serde_json::json;

pub struct Windows;

const SYSTEMS: [&str; 1] = ["x11"];

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
            area: "graphics",
            title: "Transparent windows",
            summary:
                "A translucent window is opened over a backdrop, looked at until its colour is \
                      blended with the backdrop's, and closed: windows that are never composed do \
                      not count.",
            source: "martinovic2012 §4.1, Tab. 7, Tab. 14 (PCMark05 transparent windows)",
            parameters: vec![Parameter {
                name: "system",
                kind: Type::Texts,
                default: json!(SYSTEMS),
                unit: None,
                minimum: None,
                maximum: None,
                choices: Some(SYSTEMS.to_vec()),
                description: "window system",
            }],
            factors: vec![Factor {
                name: "system",
                title: "window system",
                unit: None,
                scale: "category",
            }],
            indicators: vec![Indicator {
                id: "rate",
                title: "Windows opened, composed and closed",
                unit: "windows/s",
                direction: Direction::Higher,
            }],
            checksum: "sum of the blended colours that were seen, by window",
            semantics: Semantics {
                linux: "X11 with a compositing manager; without one windows are not blended, and \
                        under Wayland no program may look at the screen: unsupported",
                windows: "not measured yet: unsupported",
            },
            test_only: false,
        }
    }

    fn timeout_s(&self) -> Option<f64> {
        Some(120.0)
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        for system in context.parameters.clone().texts("system") {
            let case = Case::new().with("system", system);
            match x11::desk() {
                Err(failure) => context.fail(Some(&case), &failure),
                Ok(mut desk) => {
                    context.rounds(&case, |clock, wanted_ns| {
                        round(&mut desk, clock, wanted_ns, &case)
                    });
                }
            }
        }
        Ok(())
    }
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
        indicator: "rate",
        case: case.clone(),
        value: windows as f64 / elapsed_ns * 1e9,
        operations: windows,
        elapsed_ns,
        checksum: u64::from(color),
    }])
}
