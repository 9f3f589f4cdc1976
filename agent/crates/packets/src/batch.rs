//! The packets that are handed to the system together.

use super::packet::{Header, Id, Kind, LONGEST};

/// Packets in the longest batch: what one sendmmsg(2) of the ladder takes.
pub const MOST: usize = 64;

/// A batch that is longer than this takes no further packet, bytes.
const FULL: usize = 256 * 1024;

/// Packets begin at multiples of a cache line, where they need not lie side by side.
const ALIGNMENT: usize = 64;

/// One packet of a batch.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    start: usize,
    pub length: usize,
    pub sequence: u64,
    pub due_ns: u64,
}

/// Packets one behind the other in memory, each with room for lower headers in front of it.
pub struct Batch {
    bytes: Vec<u8>,
    slots: Vec<Slot>,
    headroom: usize,
    alignment: usize,
}

impl Batch {
    /// `fill` makes the bytes that lie behind the packets' headers.
    /// `together`: no byte lies between two packets.
    pub fn new(headroom: usize, together: bool, fill: impl FnMut() -> u8) -> Self {
        let mut bytes = vec![0; FULL + headroom + LONGEST + ALIGNMENT];
        bytes.fill_with(fill);
        Self {
            bytes,
            slots: Vec::with_capacity(MOST),
            headroom,
            alignment: if together { 1 } else { ALIGNMENT },
        }
    }

    pub fn clear(&mut self) {
        self.slots.clear();
    }

    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    pub fn has_room(&self) -> bool {
        self.slots.len() < MOST && self.end() < FULL
    }

    fn end(&self) -> usize {
        self.slots.last().map_or(0, |slot| {
            (slot.start + slot.length).next_multiple_of(self.alignment)
        })
    }

    /// Adds a packet; there must be room.
    #[inline]
    pub fn add(&mut self, sequence: u64, due_ns: u64, length: usize) {
        let start = self.end() + self.headroom;
        self.slots.push(Slot {
            start,
            length,
            sequence,
            due_ns,
        });
    }

    /// Writes the headers of all packets, which leave at `now_ns`.
    #[inline]
    pub fn stamp(&mut self, id: Id, now_ns: u64) {
        for slot in &self.slots {
            Header {
                id,
                sequence: slot.sequence,
                intended_ns: slot.due_ns,
                late_ns: slot.late_ns(now_ns),
                length: slot.length as u16,
                kind: Kind::Data,
            }
            .write(&mut self.bytes[slot.start..slot.start + slot.length]);
        }
    }

    #[inline]
    pub fn packet(&self, index: usize) -> &[u8] {
        let slot = self.slots[index];
        &self.bytes[slot.start..slot.start + slot.length]
    }

    /// The packets from `from` to `to` less one; they must lie together.
    #[inline]
    pub fn together(&self, from: usize, to: usize) -> &[u8] {
        let last = self.slots[to - 1];
        &self.bytes[self.slots[from].start..last.start + last.length]
    }

    /// The packet with the room in front of it.
    #[inline]
    pub fn frame(&mut self, index: usize) -> &mut [u8] {
        let slot = self.slots[index];
        &mut self.bytes[slot.start - self.headroom..slot.start + slot.length]
    }

    /// As [`Self::frame`], for reading.
    #[inline]
    pub fn framed(&self, index: usize) -> &[u8] {
        let slot = self.slots[index];
        &self.bytes[slot.start - self.headroom..slot.start + slot.length]
    }
}

impl Slot {
    /// How much later than due the packet leaves at `now_ns`.
    #[inline]
    pub fn late_ns(&self, now_ns: u64) -> u32 {
        u32::try_from(now_ns - self.due_ns).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_a_batch_do_not_touch() {
        let mut batch = Batch::new(62, false, || 0x5a);
        let lengths = [32, 33, 1472, 64, 65_507, 32];
        for (sequence, length) in lengths.into_iter().enumerate() {
            assert!(batch.has_room());
            batch.add(sequence as u64, 1000, length);
        }
        batch.stamp(Id::new(7, 3), 1250);
        for index in 0..lengths.len() {
            batch.frame(index)[..62].fill(0xee);
        }
        for (index, length) in lengths.into_iter().enumerate() {
            let packet = batch.packet(index);
            assert_eq!(packet.len(), length);
            let header = Header::read(packet).unwrap();
            assert_eq!((header.sequence, header.late_ns), (index as u64, 250));
            assert!(packet[32..].iter().all(|&byte| byte == 0x5a), "{index}");
        }
    }

    #[test]
    fn packets_that_lie_together_are_one_piece() {
        let mut batch = Batch::new(0, true, || 0x5a);
        for sequence in 0..5 {
            batch.add(sequence, 0, 33);
        }
        batch.stamp(Id::new(7, 3), 0);
        let all: Vec<u8> = (1..4).flat_map(|n| batch.packet(n).to_vec()).collect();
        assert_eq!(batch.together(1, 4), all);
        assert_eq!(all.len(), 99);
    }

    #[test]
    fn a_batch_is_full_by_packets_or_by_bytes() {
        let mut batch = Batch::new(0, false, || 0);
        for sequence in 0..MOST as u64 {
            assert!(batch.has_room());
            batch.add(sequence, 0, 32);
        }
        assert!(!batch.has_room());
        batch.clear();
        while batch.has_room() {
            batch.add(0, 0, LONGEST);
        }
        assert_eq!(batch.slots().len(), 4);
    }
}
