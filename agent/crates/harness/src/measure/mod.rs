//! One metric measured: the batch is sized from the clock, warm-up is reported, every timed
//! batch is one raw sample. Nothing is averaged here.

mod batch;
mod context;
mod execution;
mod histogram;
mod turns;

use pentathlon_protocol::ErrorKind;

pub use context::{Context, Distribution, Outcome, Place, Reading, Settings};
pub use execution::{Accounts, Execution, Runs};
pub use histogram::Histogram;

/// Why a workload, or one case of it, yields no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The system cannot do it; the reason is a sentence.
    Unsupported(String),
    /// It should have worked and did not.
    Failed(String),
    /// It ran, and what it yielded is not a measurement.
    Invalid(String),
    /// It took longer than it may.
    Timeout(String),
}

impl Failure {
    /// How the protocol calls it, and the reason.
    pub fn kind_and_reason(&self) -> (ErrorKind, &str) {
        match self {
            Self::Unsupported(reason) => (ErrorKind::Unsupported, reason),
            Self::Failed(reason) => (ErrorKind::Failed, reason),
            Self::Invalid(reason) => (ErrorKind::Invalid, reason),
            Self::Timeout(reason) => (ErrorKind::Timeout, reason),
        }
    }

    /// A failed system call, named, with the system's own words.
    pub fn system(what: &str, error: &std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::Unsupported {
            return Self::Unsupported(format!("{what}: {error}"));
        }
        #[cfg(unix)]
        if let Some(libc::ENOSYS | libc::EOPNOTSUPP | libc::EPERM | libc::EACCES) =
            error.raw_os_error()
        {
            return Self::Unsupported(format!("{what}: {error}"));
        }
        #[cfg(windows)]
        if let Some(number) = error.raw_os_error() {
            use windows_sys::Win32::Foundation::{
                ERROR_ACCESS_DENIED, ERROR_CALL_NOT_IMPLEMENTED, ERROR_NOT_SUPPORTED,
                ERROR_PRIVILEGE_NOT_HELD,
            };
            if [
                ERROR_ACCESS_DENIED,
                ERROR_CALL_NOT_IMPLEMENTED,
                ERROR_NOT_SUPPORTED,
                ERROR_PRIVILEGE_NOT_HELD,
            ]
            .contains(&(number as u32))
            {
                return Self::Unsupported(format!("{what}: {error}"));
            }
        }
        Self::Failed(format!("{what}: {error}"))
    }
}

/// How a batch becomes a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quantity {
    /// Nanoseconds per part, where one operation consists of `parts`.
    NsPer { parts: f64 },
    /// Seconds per part, for operations that take so long.
    SecondsPer { parts: f64 },
    /// Millions of units per second, where one operation yields `units` (bytes: MB/s of 10^6 B).
    MegaPerSecond { units: f64 },
    /// Units per second, such as frames.
    PerSecond { units: f64 },
}

impl Quantity {
    /// An operation's time in ns.
    pub const NS: Self = Self::NsPer { parts: 1.0 };
    /// An operation's time in s.
    pub const SECONDS: Self = Self::SecondsPer { parts: 1.0 };

    pub fn value(self, operations: u64, elapsed_ns: f64) -> f64 {
        match self {
            Self::NsPer { parts } => elapsed_ns / (operations as f64 * parts),
            Self::SecondsPer { parts } => elapsed_ns / (operations as f64 * parts) * 1e-9,
            Self::PerSecond { units } => operations as f64 * units / elapsed_ns * 1e9,
            Self::MegaPerSecond { units } => operations as f64 * units / elapsed_ns * 1e3,
        }
    }
}

/// A timed body: does so many operations and returns what they computed.
pub trait Body {
    /// Prepares a batch of `operations`, outside the timed region.
    fn prepare(&mut self, _operations: u64) -> Result<(), Failure> {
        Ok(())
    }

    /// The timed region.
    fn batch(&mut self, operations: u64) -> u64;

    /// Turns what the batch returned into a checksum that does not depend on the number of
    /// operations, or states why the work was not done.
    fn verify(&mut self, operations: u64, returned: u64) -> Result<u64, Failure>;
}

/// A body made of two closures.
pub struct Closures<B, V>(pub B, pub V);

impl<B, V> Body for Closures<B, V>
where
    B: FnMut(u64) -> u64,
    V: FnMut(u64, u64) -> Result<u64, Failure>,
{
    #[inline]
    fn batch(&mut self, operations: u64) -> u64 {
        (self.0)(operations)
    }

    fn verify(&mut self, operations: u64, returned: u64) -> Result<u64, Failure> {
        (self.1)(operations, returned)
    }
}

#[cfg(test)]
mod tests {
    use super::Quantity;

    #[test]
    fn values_have_the_units_of_the_catalog() {
        // 10 operations of 4 parts in 400 ns: 10 ns a part.
        assert_eq!(Quantity::NsPer { parts: 4.0 }.value(10, 400.0), 10.0);
        // 1000 bytes in 1000 ns: 1 GB/s, that is 1000 MB/s.
        assert_eq!(
            Quantity::MegaPerSecond { units: 100.0 }.value(10, 1000.0),
            1000.0
        );
        // 2 operations in 3 s.
        assert_eq!(Quantity::SecondsPer { parts: 1.0 }.value(2, 3e9), 1.5);
        assert_eq!(Quantity::PerSecond { units: 3.0 }.value(2, 3e9), 2.0);
    }
}
