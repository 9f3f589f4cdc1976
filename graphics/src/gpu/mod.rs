//! The adapter that draws: chosen, described, waited for.

pub mod canvas;
pub mod choose;
pub mod describe;
pub mod pipeline;
mod screen;
pub mod window;

use pentathlon_harness::measure::Failure;
use screen::Screen;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A device with its queue, and what may be said of it.
pub struct Gpu {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub info: wgpu::AdapterInfo,
    /// Whether passes can write timestamps.
    pub timestamps: bool,
    /// The window in which frames are shown, where one was requested.
    pub screen: Option<Rc<Screen>>,
}

/// Longest wait for submitted work, which a driver that hangs never ends.
const PATIENCE: Duration = Duration::from_secs(60);

impl Gpu {
    /// Waits until everything that was submitted has been drawn.
    ///
    /// # Errors
    /// The device was lost, or hangs.
    pub fn finish(&self) -> Result<(), Failure> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.device.poll(wgpu::PollType::wait_indefinitely()) {
                Ok(_) => return Ok(()),
                // OpenGL gives up its waits after about two seconds, with the work under way.
                Err(wgpu::PollError::Timeout) if Instant::now() < deadline => {}
                Err(error) => {
                    return Err(Failure::Failed(format!(
                        "{} did not end what it was given to draw: {error}",
                        self.info.name
                    )))
                }
            }
        }
    }

    /// Runs `work` and turns the driver's validation, memory and internal errors into a failure.
    pub fn guarded<T>(&self, work: impl FnOnce() -> T) -> Result<T, Failure> {
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let done = work();
        // All three are closed, in the order of a stack, before one of them is judged.
        let found = [internal, memory, validation].map(|scope| pollster::block_on(scope.pop()));
        match found.into_iter().flatten().next() {
            None => Ok(done),
            Some(wgpu::Error::OutOfMemory { .. }) => Err(Failure::Unsupported(format!(
                "{} has not memory enough for this scene",
                self.info.name
            ))),
            Some(error) => Err(Failure::Failed(format!("{}: {error}", self.info.name))),
        }
    }
}
