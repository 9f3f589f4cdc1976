//! What happened in one direction.

use pentathlon_harness::measure::Histogram;
use serde::Serialize;
use serde_json::{json, Value};

/// Frames that did not come through, by cause.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Drops {
    /// Longer than the MTU; a host that leaves segmentation to its device sends such frames.
    pub mtu: u64,
    /// No room in the queue.
    pub queue: u64,
    /// Dropped by CoDel.
    pub codel: u64,
    /// Lost on the line, as asked for.
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
    pub fn event(&self, queue: Value) -> Value {
        let (_, latest) = self.lateness.limits();
        json!({
            "frames_in": self.frames_in, "bytes_in": self.bytes_in,
            "frames_out": self.frames_out, "bytes_out": self.bytes_out,
            "drops": self.drops,
            "duplicated": self.duplicated, "ahead": self.ahead, "unchecked": self.unchecked,
            "queue": queue,
            "lateness_ns": {"latest": latest, "buckets": self.lateness.buckets()},
        })
    }
}
