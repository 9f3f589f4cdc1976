//! Who answered a read: the device or the system's cache.
//!
//! Two things are looked at just outside the timed region: how many of the file's pages the cache
//! held before (`mincore(2)`), and how many bytes the block layer read for this process meanwhile
//! (`read_bytes` of `/proc/self/io`).

use pentathlon_os::disk::{pages, place};
use serde::Serialize;
use std::fs::File;

/// The verdict on one timed pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Served {
    /// The block layer read at least 95 % of the bytes for this process.
    Device,
    /// The cache held at least 95 % of the pages, or the file system is memory.
    Cache,
    /// Neither.
    Mixed,
    /// The cache held at most 5 % of the pages and no block device of this system read them: a
    /// host, a server or another layer below answered, from its own cache or not.
    Below,
    /// The system reports neither.
    Unknown,
}

/// What was seen of one timed pass.
#[derive(Debug, Clone, Serialize)]
pub struct Observation {
    pub served: Served,
    /// Bytes requested.
    pub asked_bytes: u64,
    /// Bytes that the block layer read meanwhile, with what it read ahead.
    pub device_bytes: Option<u64>,
    /// Share of the file's pages that the cache held before.
    pub cached_before: Option<f64>,
}

/// The readings before a pass.
pub struct Before {
    in_memory: bool,
    direct: bool,
    device_bytes: Option<u64>,
    cached: Option<f64>,
}

/// File systems whose files are in memory and nowhere else.
pub fn is_memory(kind: Option<&str>) -> bool {
    matches!(kind, Some("tmpfs" | "ramfs"))
}

impl Before {
    /// `file`: to ask about its cached pages, where the system reports; `kind` of the file system;
    /// `direct`: the pass goes past the cache.
    pub fn read(file: Option<&File>, bytes: u64, kind: Option<&str>, direct: bool) -> Self {
        let cached = file
            .and_then(|file| pages::resident(file, bytes).ok())
            .map(|found| found.resident as f64 / found.pages.max(1) as f64);
        Self::of(cached, kind, direct)
    }

    /// The same with a known share of cached pages.
    pub fn of(cached: Option<f64>, kind: Option<&str>, direct: bool) -> Self {
        Self {
            in_memory: is_memory(kind),
            direct,
            cached,
            device_bytes: place::device_read_bytes(),
        }
    }

    /// The verdict, after a pass that requested `asked_bytes`.
    pub fn judge(&self, asked_bytes: u64) -> Observation {
        let device_bytes = place::device_read_bytes()
            .zip(self.device_bytes)
            .map(|(after, before)| after.saturating_sub(before));
        // What goes past the cache is not answered by it, where the system is known to have one
        // that it can report.
        let cached = self
            .cached
            .map(|share| if self.direct { 0.0 } else { share });
        Observation {
            served: judge(self.in_memory, asked_bytes, device_bytes, cached),
            asked_bytes,
            device_bytes,
            cached_before: self.cached,
        }
    }
}

fn judge(in_memory: bool, requested: u64, device: Option<u64>, cached: Option<f64>) -> Served {
    if in_memory {
        return Served::Cache;
    }
    let share = device.map(|bytes| bytes as f64 / requested.max(1) as f64);
    match (share, cached) {
        (Some(share), _) if share >= 0.95 => Served::Device,
        (Some(share), _) if share > 0.05 => Served::Mixed,
        (_, Some(cached)) if cached >= 0.95 => Served::Cache,
        (_, Some(cached)) if cached <= 0.05 => Served::Below,
        (_, Some(_)) => Served::Mixed,
        (_, None) => Served::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counters_tell_who_answered() {
        for (in_memory, device, cached, expected) in [
            (true, Some(0), Some(1.0), Served::Cache),
            (true, None, None, Served::Cache),
            // Read ahead reads more than was requested.
            (false, Some(1200), Some(0.0), Served::Device),
            (false, Some(500), Some(0.0), Served::Mixed),
            (false, Some(0), Some(1.0), Served::Cache),
            (false, Some(0), Some(0.5), Served::Mixed),
            // A host's file system has no block device here.
            (false, Some(0), Some(0.0), Served::Below),
            (false, None, Some(0.0), Served::Below),
            (false, None, Some(1.0), Served::Cache),
            (false, None, None, Served::Unknown),
            (false, Some(0), None, Served::Unknown),
        ] {
            assert_eq!(
                judge(in_memory, 1000, device, cached),
                expected,
                "{in_memory} {device:?} {cached:?}"
            );
        }
    }
}
