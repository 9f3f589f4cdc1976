//! The sender of one flow: open-loop. A packet is due at its time in the schedule, whatever became
//! of those before it; one that is late is sent at once, and its lateness is written down.

use super::batch::{Batch, Slot};
use super::flow::SendFlow;
use super::model::{Sampler, Schedule};
use super::packet::{Id, LONGEST};
use super::records::Recorder;
use super::tx::Tx;
use super::Timer;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, ErrorKind};

/// What a sender did, in counts; the records hold the rest.
#[derive(Debug, Default, Clone, Serialize, JsonSchema)]
#[schemars(rename = "SentCounts")]
pub struct Sent {
    pub packets: u64,
    /// Packets that were due before the flow's end; none where it has no schedule.
    pub planned: Option<u64>,
    /// Bytes of payload.
    pub bytes: u64,
    /// Packets that the system refused (no buffer, connection refused); they were not sent again.
    pub refused: u64,
    pub first_ns: u64,
    pub last_ns: u64,
    pub worst_late_ns: u64,
    /// Bytes that a connection of TCP put on the wire, and those of them that it sent again.
    pub wire_bytes: Option<u64>,
    pub wire_bytes_again: Option<u64>,
    /// Records that were lost because their writer was behind.
    pub lost_records: u64,
    /// Why the flow ended before its time, if it did.
    pub broken: Option<String>,
}

/// Packets that were due and not taken are counted one by one up to so many, a tenth of a second.
const COUNTED: u64 = 10_000_000;

/// Sends one flow from `start_ns` on.
pub fn run(
    flow: &SendFlow,
    session: u64,
    seed: u64,
    start_ns: u64,
    timer: &Timer,
    tx: &mut Tx,
    recorder: Recorder,
) -> Result<Sent, String> {
    let end_ns = start_ns + (flow.duration_s * 1e9) as u64;
    let mut random = Sampler::new(
        &super::model::Model::Uniform {
            minimum: 0.0,
            maximum: 255.0,
        },
        seed,
        u64::from(flow.flow) << 8 | 9,
    )?;
    let mut packets = Packets::new(flow, seed, start_ns)?;
    let id = Id::new(session, flow.flow);
    #[cfg(target_os = "linux")]
    if let Tx::Live(live) = tx {
        let fill = || random.draw() as u8;
        let times = (start_ns, end_ns);
        return live
            .run(id, times, packets, timer, recorder, fill)
            .map_err(|e| e.to_string());
    }
    #[cfg(target_os = "linux")]
    if let Tx::Pktgen(pktgen) = tx {
        return pktgen
            .run((start_ns, end_ns), packets, timer, recorder)
            .map_err(|e| e.to_string());
    }
    let mut batch = Batch::new(tx.headroom(), tx.is_segmented(), || random.draw() as u8);
    let mut sender = Sender {
        tx,
        recorder,
        sent: Sent::default(),
    };
    timer.wait_until(start_ns);
    while packets.are_left_before(end_ns) {
        let now = match packets.due_ns {
            Some(due) => timer.wait_until(due),
            None => timer.now_ns(),
        };
        // A generator that falls behind for good ends at the planned time, not much later: what
        // was not sent by then shows as missing packets.
        if now >= end_ns {
            break;
        }
        batch.clear();
        packets.fill(&mut batch, sender.tx.most(), now.min(end_ns - 1));
        batch.stamp(id, now);
        sender.tx.prepare(&mut batch);
        if !sender.hand_over(&batch, now) {
            break;
        }
    }
    sender.sent.planned = packets.planned(end_ns);
    (sender.sent.wire_bytes, sender.sent.wire_bytes_again) = sender.tx.on_the_wire().unzip();
    sender.sent.lost_records = sender.recorder.finish();
    Ok(sender.sent)
}

/// The packets of a flow in their order: when each is due, and how long it is.
pub struct Packets {
    schedule: Schedule,
    sizes: Sampler,
    start_ns: u64,
    sequence: u64,
    most: u64,
    shortest: usize,
    /// When the packet `sequence` is due; none if as soon as possible.
    due_ns: Option<u64>,
}

impl Packets {
    pub fn new(flow: &SendFlow, seed: u64, start_ns: u64) -> Result<Self, String> {
        let mut packets = Self {
            schedule: Schedule::new(&flow.gap, seed, flow.flow)?,
            sizes: Sampler::new(&flow.size, seed, u64::from(flow.flow) << 8)?,
            start_ns,
            sequence: 0,
            most: flow.packets.unwrap_or(u64::MAX),
            shortest: flow.protocol.shortest(),
            due_ns: None,
        };
        packets.plan();
        Ok(packets)
    }

    fn plan(&mut self) {
        let due = self.schedule.next_ns();
        // After a rate of zero the next packet is never due.
        self.due_ns = (!self.schedule.unpaced()).then_some(self.start_ns.saturating_add(due));
    }

    /// Packets of the flow, at most.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Takes one packet, whenever it is due, but before `end_ns`: its due time, or none if it is to
    /// be sent as soon as possible.
    #[cfg(target_os = "linux")]
    pub fn take(&mut self, end_ns: u64) -> Option<Option<u64>> {
        if !self.are_left_before(end_ns) {
            return None;
        }
        let due = self.due_ns;
        self.sequence += 1;
        self.plan();
        Some(due)
    }

    /// How many packets are due before `end_ns`, those that were not taken with them; none if each is
    /// to be sent as soon as possible. Of very many the rest is reckoned from the mean rate until then.
    pub fn planned(&mut self, end_ns: u64) -> Option<u64> {
        let counted = self.sequence + COUNTED;
        while self.are_left_before(end_ns) {
            let due_ns = self.due_ns?;
            if self.sequence == counted {
                let so_far_ns = (due_ns - self.start_ns).max(1);
                let all = (end_ns - self.start_ns) as f64 / so_far_ns as f64;
                return Some(((self.sequence as f64 * all) as u64).min(self.most));
            }
            self.sequence += 1;
            self.plan();
        }
        self.due_ns.map(|_| self.sequence)
    }

    /// Whether a packet is left that is due before `end_ns`.
    #[inline]
    fn are_left_before(&self, end_ns: u64) -> bool {
        self.sequence < self.most && self.due_ns.is_none_or(|due| due < end_ns)
    }

    /// Takes the packets that are due at `now_ns`, no more than `most`; none is taken early to
    /// make a batch longer.
    #[inline]
    fn fill(&mut self, batch: &mut Batch, most: usize, now_ns: u64) {
        while self.sequence < self.most && batch.slots().len() < most && batch.has_room() {
            let due = self.due_ns.unwrap_or(now_ns);
            if due > now_ns {
                break;
            }
            let length = (self.sizes.draw().round() as usize).clamp(self.shortest, LONGEST);
            batch.add(self.sequence, due, length);
            self.sequence += 1;
            self.plan();
        }
    }
}

struct Sender<'a> {
    tx: &'a mut Tx,
    recorder: Recorder,
    sent: Sent,
}

impl Sender<'_> {
    /// Sends every packet of the batch once, and writes each down; false if the flow is over.
    #[inline]
    fn hand_over(&mut self, batch: &Batch, now: u64) -> bool {
        let mut at = 0;
        while at < batch.slots().len() {
            match self.tx.send(batch, at) {
                Ok(took) => {
                    for slot in &batch.slots()[at..at + took] {
                        self.write_down(slot, now, 0);
                        self.sent.packets += 1;
                        self.sent.bytes += slot.length as u64;
                    }
                    at += took;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    let slot = &batch.slots()[at];
                    let code = error.raw_os_error().unwrap_or(-1).unsigned_abs() as u16;
                    self.write_down(slot, now, code);
                    self.sent.refused += 1;
                    if let Some(end) = self.end_of(&error, slot.length) {
                        self.sent.broken = Some(end);
                        return false;
                    }
                    at += 1;
                }
            }
        }
        true
    }

    #[inline]
    fn write_down(&mut self, slot: &Slot, now: u64, code: u16) {
        let late = slot.late_ns(now);
        let length = slot.length as u16;
        self.recorder
            .record(slot.sequence, slot.due_ns, late, length, code);
        if slot.sequence == 0 {
            self.sent.first_ns = now;
        }
        self.sent.last_ns = now;
        self.sent.worst_late_ns = self.sent.worst_late_ns.max(now - slot.due_ns);
    }

    /// Why the flow cannot go on after this error; none if it can. A datagram that the system has
    /// no room for is lost, as it would be in the network.
    fn end_of(&self, error: &io::Error, length: usize) -> Option<String> {
        let passing = matches!(
            error.kind(),
            ErrorKind::ConnectionRefused | ErrorKind::WouldBlock | ErrorKind::OutOfMemory
        ) || error.raw_os_error() == Some(pentathlon_os::errno::NO_BUFFERS);
        if self.tx.is_stream() {
            Some(format!("the connection broke: {error}"))
        } else if passing {
            None
        } else {
            Some(format!("a packet of {length} B could not be sent: {error}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn packets(gap: serde_json::Value) -> Packets {
        let flow = json!({
            "flow": 0, "protocol": "udp", "peer": "127.0.0.1", "port": 1, "duration_s": 1.0,
            "size": {"model": "constant", "value": 64}, "gap": gap,
        });
        Packets::new(&serde_json::from_value(flow).unwrap(), 1, 7_000).unwrap()
    }

    #[test]
    fn those_that_were_not_taken_are_planned_too() {
        let rate = json!({"of": {"model": "constant", "value": 1000}, "rate": true});
        assert_eq!(packets(rate).planned(100_007_000), Some(100));
        let none = json!({"of": {"model": "constant", "value": 0}, "rate": true});
        assert_eq!(packets(none).planned(100_007_000), None);
    }

    #[test]
    fn very_many_are_not_counted_one_by_one() {
        let rate = json!({"of": {"model": "constant", "value": 1e12}, "rate": true});
        let found = packets(rate).planned(1_000_007_000).unwrap() as f64;
        assert!((found / 1e12 - 1.0).abs() < 1e-3, "{found}");
    }

    #[test]
    fn after_a_rate_of_zero_no_packet_is_due() {
        let gap = json!({"of": {"model": "trace", "values": [1000, 0]}, "rate": true});
        assert_eq!(packets(gap).planned(100_007_000), Some(2));
    }
}
