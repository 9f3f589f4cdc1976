//! Threads that are to wait before a program starts: a thread takes time to start, and would take it
//! from the program's.

use std::sync::mpsc::{channel, Receiver, Sender};

/// Held by each thread until all that is left to it is to wait.
#[derive(Clone)]
pub struct Ready(#[allow(dead_code, reason = "what counts is that it is dropped")] Sender<()>);

/// What waits for them.
pub struct Others(Receiver<()>);

impl Ready {
    pub fn new() -> (Self, Others) {
        let (sender, receiver) = channel();
        (Self(sender), Others(receiver))
    }
}

impl Others {
    /// Waits until nobody holds a [`Ready`] any more.
    pub fn wait(self) {
        self.0.recv().ok();
    }
}
