//! Cycles and instructions of this process and its children, where the processor's counters can be
//! had.

use crate::counters::Delta;
use pentathlon_os::perf::{Counter, CYCLES, INSTRUCTIONS};
use std::collections::BTreeMap;
use std::io;

pub const NAMES: [&str; 2] = ["cycles", "instructions"];

#[derive(Debug, Default)]
pub struct Cycles {
    counters: Option<(Counter, Counter)>,
    with_kernel: bool,
}

impl Cycles {
    pub fn open(unsupported: &mut BTreeMap<&'static str, String>) -> Self {
        let open = |with_kernel| -> io::Result<(Counter, Counter)> {
            let both = (
                Counter::open(CYCLES, with_kernel)?,
                Counter::open(INSTRUCTIONS, with_kernel)?,
            );
            match (both.0.read(), both.1.read()) {
                (Some(_), Some(_)) => Ok(both),
                _ => Err(io::Error::other("the counters do not run all the time")),
            }
        };
        // What the kernel does belongs to the work; users without rights may count themselves only.
        let found = open(true)
            .map(|both| (both, true))
            .or_else(|refusal| match refusal.kind() {
                io::ErrorKind::PermissionDenied => open(false).map(|both| (both, false)),
                _ => Err(refusal),
            });
        match found {
            Ok((counters, with_kernel)) => Self {
                counters: Some(counters),
                with_kernel,
            },
            Err(error) => {
                for name in NAMES {
                    unsupported.insert(name, format!("perf_event_open(2): {}", meaning(&error)));
                }
                Self::default()
            }
        }
    }

    /// What the counters count; none where there are none.
    pub fn scope(&self) -> Option<&'static str> {
        let scope = if self.with_kernel {
            "user and kernel"
        } else {
            "user"
        };
        self.counters.as_ref().map(|_| scope)
    }

    pub fn read(&self, into: &mut Delta) {
        if let Some((cycles, instructions)) = &self.counters {
            into.cycles = cycles.read();
            into.instructions = instructions.read();
        }
    }
}

/// The error with what it means of this call.
fn meaning(error: &io::Error) -> String {
    let why = match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP) => {
            "the processor's counters are not there, as in most virtual machines"
        }
        Some(libc::EACCES | libc::EPERM) => "kernel.perf_event_paranoid does not allow it",
        Some(libc::ENOSYS) => "the kernel has no such call",
        _ => return error.to_string(),
    };
    format!("{why} ({error})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_counted_or_refused_with_the_reason() {
        let mut refused = BTreeMap::new();
        let cycles = Cycles::open(&mut refused);
        let (mut before, mut after) = (Delta::default(), Delta::default());
        cycles.read(&mut before);
        let mut sum = 1_u64;
        for step in 0..100_000_u64 {
            sum = std::hint::black_box(sum.wrapping_mul(3) + step);
        }
        cycles.read(&mut after);
        if cycles.scope().is_none() {
            for name in NAMES {
                assert!(
                    refused[name].starts_with("perf_event_open(2): "),
                    "{refused:?}"
                );
            }
            assert_eq!(after.cycles, None);
            return;
        }
        assert!(refused.is_empty());
        // Another program may take the counters away at any time; then there is no count.
        if let (Some(first), Some(last)) = (before.instructions, after.instructions) {
            assert!(last - first >= 300_000, "{}", last - first);
            assert!(after.cycles > before.cycles || after.cycles.is_none());
        }
    }

    #[test]
    fn a_refusal_is_reported_by_what_it_means() {
        let reported = |number| meaning(&io::Error::from_raw_os_error(number));
        assert!(reported(libc::ENOENT).contains("virtual machines"));
        assert!(reported(libc::EACCES).contains("perf_event_paranoid"));
        assert!(reported(libc::ENOSYS).contains("no such call"));
        assert!(!reported(libc::EMFILE).is_empty());
    }
}
