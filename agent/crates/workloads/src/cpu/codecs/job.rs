//! What a codec does, once; alone in a timed batch or beside others.

use pentathlon_harness::measure::{Body, Failure};

/// A task with its input, ready to be done again and again.
pub trait Job: Send {
    /// What one operation handles, in bytes or pixels.
    fn units(&self) -> f64;

    /// Does it once and keeps what came out.
    fn run(&mut self) -> Result<(), Failure>;

    /// Proves what came out last by its inverse; returns its checksum.
    fn check(&mut self) -> Result<u64, Failure>;
}

/// A failure of a codec, which is never the system's: its input is our own.
pub fn broken(what: &str, error: impl std::fmt::Display) -> Failure {
    Failure::Failed(format!("{what}: {error}"))
}

/// A job alone in a timed batch.
pub struct Alone(pub Box<dyn Job>, pub Option<Failure>);

impl Alone {
    pub fn new(job: Box<dyn Job>) -> Self {
        Self(job, None)
    }
}

impl Body for Alone {
    fn batch(&mut self, operations: u64) -> u64 {
        for _ in 0..operations {
            if let Err(failure) = self.0.run() {
                self.1.get_or_insert(failure);
            }
        }
        operations
    }

    fn verify(&mut self, _operations: u64, _returned: u64) -> Result<u64, Failure> {
        match self.1.take() {
            Some(failure) => Err(failure),
            None => self.0.check(),
        }
    }
}

/// That `what` gave back exactly what went in.
pub fn same(what: &str, restored: &[u8], original: &[u8]) -> Result<(), Failure> {
    if restored == original {
        return Ok(());
    }
    Err(Failure::Invalid(format!(
        "{what} gave {} bytes that are not the {} bytes that went in",
        restored.len(),
        original.len()
    )))
}
