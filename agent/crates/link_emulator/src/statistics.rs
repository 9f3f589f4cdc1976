//! What happened in one direction.

use pentathlon_harness::measure::Histogram;
use schemars::JsonSchema;
use serde::Serialize;

/// Frames that did not come through, by cause.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Drops {
    /// Longer than the MTU; a host that leaves segmentation to its device sends such frames.
    pub mtu: u64,
    /// No room in the queue.
    pub queue: u64,
    /// Dropped by CoDel.
    pub codel: u64,
    /// Lost on the line, as requested.
    pub loss: u64,
    /// The line was cut.
    pub cut: u64,
    /// The far interface did not take them.
    pub refused: u64,
    /// The kernel found no room in the capture ring: the emulator was too slow.
    pub ring: u64,
}

#[derive(Debug, Clone, Default)]
pub struct Statistics {
    pub frames_in: u64,
    pub bytes_in: u64,
    pub frames_out: u64,
    pub bytes_out: u64,
    pub drops: Drops,
    pub duplicated: u64,
    pub ahead: u64,
    /// Frames that came without a checksum: their host leaves it to its device.
    pub unchecked: u64,
    /// How much later than due frames were handed to the far interface, ns.
    pub lateness: Histogram,
}

impl Statistics {
    pub fn used(&self, queue: QueueUse) -> WayUse {
        let (_, latest) = self.lateness.limits();
        WayUse {
            frames_in: self.frames_in,
            bytes_in: self.bytes_in,
            frames_out: self.frames_out,
            bytes_out: self.bytes_out,
            drops: self.drops.clone(),
            duplicated: self.duplicated,
            ahead: self.ahead,
            unchecked: self.unchecked,
            queue,
            lateness_ns: Lateness {
                latest,
                buckets: self.lateness.buckets(),
            },
        }
    }
}

/// What happened in one direction since the link was opened.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct WayUse {
    pub frames_in: u64,
    pub bytes_in: u64,
    pub frames_out: u64,
    pub bytes_out: u64,
    pub drops: Drops,
    pub duplicated: u64,
    pub ahead: u64,
    /// Frames that came without a checksum: their host leaves it to its device.
    pub unchecked: u64,
    pub queue: QueueUse,
    pub lateness_ns: Lateness,
}

/// What waits, and the most that has waited.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct QueueUse {
    pub high_bytes: u64,
    pub high_frames: u64,
    pub frames: u64,
    pub bytes: u64,
    /// Frames that have left the queue and are not due yet.
    pub on_the_way: u64,
}

/// How much later than due frames were handed over, ns.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Lateness {
    pub latest: u64,
    /// Greatest value of a bucket, frames in it; ascending, empty ones left out.
    pub buckets: Vec<(u64, u64)>,
}
