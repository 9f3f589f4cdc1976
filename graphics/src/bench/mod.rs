//! The scenes as workloads: drawn so often that the time can be measured, checked, described.

mod apart;
mod draw;
mod entry;
mod parameters;
mod playback;
mod suite;
mod windows;

use crate::gpu::{canvas::Canvas, choose};
use crate::picture::Picture;
use crate::scene::{self, Model, Order, ENTRIES, VIEWSETS};
use draw::Drawing;
use entry::Single;
use pentathlon_harness::measure::Failure;
use pentathlon_harness::Workload;
use suite::Suite;

/// Every workload of this program, in the catalog's order.
pub fn workloads() -> Vec<&'static dyn Workload> {
    static SINGLES: [Single; ENTRIES.len()] = {
        let mut all = [Single(&ENTRIES[0], 0); ENTRIES.len()];
        let (mut at, mut place) = (0, 0);
        while at < ENTRIES.len() {
            all[at] = Single(&ENTRIES[at], place);
            place += ENTRIES[at].factor.1.len();
            at += 1;
        }
        all
    };
    let singles = SINGLES.iter().map(|single| single as &dyn Workload);
    let others: [&dyn Workload; 3] = [&playback::Playback, &Suite, &windows::Windows];
    singles.chain(others).collect()
}

/// Place of the first test of the viewsets among the references.
fn viewsets_start() -> usize {
    ENTRIES.iter().map(|entry| entry.factor.1.len()).sum()
}

/// Place of the clip's last frame among the references.
fn video_place() -> usize {
    ENTRIES
        .iter()
        .take_while(|entry| entry.id != scene::VIDEO.id)
        .map(|entry| entry.factor.1.len())
        .sum()
}

/// Every scene as it is compared: at the default size, scale and seed, by the first adapter.
///
/// # Errors
/// There is no adapter, or it cannot draw one of them.
pub fn draw_references() -> Result<Vec<Picture>, Failure> {
    let gpu = choose::open("any", "", None)?;
    let order = parameters::REFERENCE;
    let canvas = Canvas::new(&gpu, order.width, order.height);
    let mut pictures = Vec::new();
    let mut keep = |made: Box<dyn scene::Scene>| -> Result<(), Failure> {
        let mut drawing = Drawing::new(made);
        gpu.guarded(|| drawing.operation(&gpu, &canvas, 1))??;
        pictures.push(canvas.read(&gpu)?.small());
        Ok(())
    };
    for entry in ENTRIES {
        for choice in entry.factor.1 {
            keep(gpu.guarded(|| (entry.make)(&gpu, &canvas, order, choice))??)?;
        }
    }
    for viewset in VIEWSETS {
        let model = gpu.guarded(|| Model::new(&gpu, viewset, order))??;
        for way in scene::WAYS {
            keep(gpu.guarded(|| model.scene(&gpu, way))?)?;
        }
    }
    Ok(pictures)
}

/// What was requested of a case, by its place among the references.
#[derive(Clone, Copy)]
struct Wanted {
    order: Order,
    place: usize,
}
