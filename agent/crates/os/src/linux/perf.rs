//! Counters of the processor and the kernel: `perf_event_open(2)`.

use crate::call::check;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{FromRawFd, OwnedFd};

/// What is counted, as (type, config) of `perf_event_attr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    kind: u32,
    config: u64,
}

/// Cycles of the CPU, at whatever frequency it runs.
pub const CYCLES: Event = Event { kind: 0, config: 0 };
/// Instructions that were retired.
pub const INSTRUCTIONS: Event = Event { kind: 0, config: 1 };
/// Page faults, which the kernel counts itself: it is there without a counter in the processor.
#[cfg(test)]
pub const PAGE_FAULTS: Event = Event { kind: 1, config: 2 };

/// `perf_event_attr` as it was when the call came (PERF_ATTR_SIZE_VER0, 64 bytes), which every
/// kernel takes.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    bp_type: u32,
    bp_addr: u64,
}

const TOTAL_TIME_ENABLED: u64 = 1;
const TOTAL_TIME_RUNNING: u64 = 1 << 1;
const INHERIT: u64 = 1 << 1;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;
const EXCLUDE_KERNEL: u64 = 1 << 5;

/// One counter of this thread, and of the threads and processes that it makes from now on.
#[derive(Debug)]
pub struct Counter(File);

impl Counter {
    /// Opens and starts the counter.
    ///
    /// # Errors
    /// ENOENT: there is no such counter here, as in most virtual machines; EACCES or EPERM: the
    /// system does not allow it (`kernel.perf_event_paranoid`); ENOSYS: the kernel has no such call.
    pub fn open(event: Event, with_kernel: bool) -> io::Result<Self> {
        let attributes = Attributes {
            kind: event.kind,
            size: size_of::<Attributes>() as u32,
            config: event.config,
            read_format: TOTAL_TIME_ENABLED | TOTAL_TIME_RUNNING,
            flags: INHERIT | if with_kernel { 0 } else { EXCLUDE_KERNEL },
            ..Attributes::default()
        };
        let (this_thread, any_cpu, no_group) = (0, -1, -1);
        // SAFETY: the attributes have the size that they name and live to the end of the call; the
        // kernel only reads them.
        let descriptor = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                this_thread as libc::pid_t,
                any_cpu as libc::c_int,
                no_group as libc::c_int,
                CLOSE_ON_EXEC,
            )
        };
        check(descriptor >= 0)?;
        // SAFETY: the call has just given this descriptor to us alone.
        let owned = unsafe { OwnedFd::from_raw_fd(descriptor as libc::c_int) };
        Ok(Self(File::from(owned)))
    }

    /// The count since the counter was opened; none if it had to share the processor's counters
    /// with others, which leaves a part uncounted.
    pub fn read(&self) -> Option<u64> {
        let mut words = [0; 24];
        (&self.0).read_exact(&mut words).ok()?;
        let word = |at: usize| u64::from_ne_bytes(words[at * 8..][..8].try_into().unwrap());
        whole(word(0), word(1), word(2))
    }
}

/// The count, if the counter ran for all but a thousandth of the time that it should have.
fn whole(count: u64, enabled_ns: u64, running_ns: u64) -> Option<u64> {
    (running_ns > 0 && running_ns >= enabled_ns - enabled_ns / 1000).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages;

    #[test]
    fn a_counter_counts_what_this_thread_and_its_threads_do() {
        let counter =
            match Counter::open(PAGE_FAULTS, true).or_else(|_| Counter::open(PAGE_FAULTS, false)) {
                Ok(counter) => counter,
                Err(error) => {
                    eprintln!("skipped: this system does not allow perf_event_open(2): {error}");
                    return;
                }
            };
        let before = counter.read().unwrap();
        pages::touch_new(256, 4096).unwrap();
        let own = counter.read().unwrap() - before;
        // A kernel with large folios maps up to 16 pages by one fault.
        assert!(own >= 16, "{own}");
        std::thread::spawn(|| pages::touch_new(256, 4096).unwrap())
            .join()
            .unwrap();
        assert!(counter.read().unwrap() - before - own >= 16);
    }

    #[test]
    fn an_event_that_there_is_not_is_refused() {
        let none = Event {
            kind: 0,
            config: 999,
        };
        assert!(Counter::open(none, false).is_err());
    }

    #[test]
    fn a_count_of_a_part_of_the_time_is_none() {
        assert_eq!(whole(7, 1000, 1000), Some(7));
        assert_eq!(whole(7, 100_000, 99_950), Some(7));
        assert_eq!(whole(7, 1000, 500), None);
        assert_eq!(whole(0, 1000, 0), None);
    }
}
