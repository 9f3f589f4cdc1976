//! The scenes: one file an idea. A scene is made once and draws the same frame as often as asked.

mod basic;
mod composition;
pub mod eye;
mod game;
mod lines;
mod particles;
mod video;
mod viewset;

use crate::gpu::{canvas::Canvas, Gpu};
use pentathlon_harness::measure::Failure;

/// The part of every shader.
pub const COMMON: &str = include_str!("common.wgsl");

/// What a case asks of a scene.
#[derive(Clone, Copy, PartialEq)]
pub struct Order {
    pub width: u32,
    pub height: u32,
    /// How many times the work of scale 1 a frame is.
    pub scale: f64,
    pub seed: u64,
}

/// Something that draws.
pub trait Scene {
    /// Whatever the processor does before a frame, such as decoding or sending a picture.
    ///
    /// # Errors
    /// It could not be done.
    fn before(&mut self, _gpu: &Gpu) -> Result<(), Failure> {
        Ok(())
    }

    /// Whether each frame is submitted alone, because what is sent before it must be there first.
    fn alone(&self) -> bool {
        false
    }

    /// Goes back to the state before the first frame, where frames differ.
    fn restart(&mut self, _gpu: &Gpu) {}

    /// Records one frame.
    fn frame(&mut self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, canvas: &Canvas);

    /// Frames after which the picture is compared; 1 where all are the same.
    fn period(&self) -> u32 {
        1
    }

    /// Units of work of one frame: 1 where frames are counted.
    fn units(&self) -> f64 {
        1.0
    }

    /// Whether lines are drawn along edges: how dark a picture is depends then on how many there are.
    fn lines(&self) -> bool {
        false
    }

    /// A number that two systems share if they do the same work.
    fn amount(&self) -> u64;
}

/// Makes the scene of one case.
pub type Maker = fn(&Gpu, &Canvas, Order, &str) -> Result<Box<dyn Scene>, Failure>;

/// A workload of the catalog: a scene for each of its choices.
pub struct Entry {
    pub id: &'static str,
    pub title: &'static str,
    pub summary: &'static str,
    pub source: &'static str,
    /// What distinguishes its cases, and their names.
    pub factor: (&'static str, &'static [&'static str]),
    pub metric: &'static str,
    pub unit: &'static str,
    /// Whether the unit counts millions.
    pub millions: bool,
    pub make: Maker,
}

/// Every scene, in the catalog's order; the references stand in the same order.
pub const ENTRIES: &[Entry] = &[
    composition::ENTRY,
    lines::ENTRY,
    VIDEO,
    basic::FILL,
    basic::POLYGONS,
    basic::PIXEL_SHADER,
    basic::VERTEX_SHADER,
    particles::ENTRY,
    basic::NOISE,
    game::ENTRY,
];

pub const VIDEO: Entry = video::ENTRY;

pub use viewset::{Model, Viewset, VIEWSETS, WAYS};
