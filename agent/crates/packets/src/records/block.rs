//! One block of records and its bytes.

use crc32fast::Hasher;

/// Records in a full block: 128 KiB.
pub const RECORDS_IN_BLOCK: usize = 8192;

/// Bytes in front of the records.
pub const BLOCK_HEADER: usize = 48;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    Sent = 0,
    Received = 1,
    Echoes = 2,
    Exchange = 3,
    /// The kernel's times of arrival and of sending.
    Heard = 4,
    Left = 5,
}

/// 16 bytes; what they mean depends on the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    pub time_ns: u64,
    pub number: u32,
    pub length: u16,
    pub flags: u16,
}

/// A block that is being filled. Its memory is touched once, before the run.
pub struct Block {
    pub flow: u32,
    pub kind: Kind,
    pub base_sequence: u64,
    pub base_ns: u64,
    pub lost_before: u64,
    bytes: Vec<u8>,
    count: usize,
}

impl Block {
    pub fn new(flow: u32, kind: Kind) -> Self {
        let mut bytes = vec![1; BLOCK_HEADER + 16 * RECORDS_IN_BLOCK];
        bytes.fill(0);
        Self {
            flow,
            kind,
            base_sequence: 0,
            base_ns: 0,
            lost_before: 0,
            bytes,
            count: 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn is_full(&self) -> bool {
        self.count == RECORDS_IN_BLOCK
    }

    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a record; the block must not be full.
    #[inline]
    pub fn push(&mut self, record: Record) {
        let at = BLOCK_HEADER + 16 * self.count;
        let place: &mut [u8; 16] = (&mut self.bytes[at..at + 16]).try_into().expect("16 bytes");
        place[0..8].copy_from_slice(&record.time_ns.to_le_bytes());
        place[8..12].copy_from_slice(&record.number.to_le_bytes());
        place[12..14].copy_from_slice(&record.length.to_le_bytes());
        place[14..16].copy_from_slice(&record.flags.to_le_bytes());
        self.count += 1;
    }

    /// The block's bytes with header and checksum.
    pub fn finish(&mut self) -> &[u8] {
        let end = BLOCK_HEADER + 16 * self.count;
        let head = &mut self.bytes[..BLOCK_HEADER];
        head[0..4].copy_from_slice(b"PTR1");
        head[4..8].copy_from_slice(&self.flow.to_le_bytes());
        head[8..12].copy_from_slice(&[self.kind as u8, 0, 0, 0]);
        head[12..16].copy_from_slice(&(self.count as u32).to_le_bytes());
        head[16..24].copy_from_slice(&self.base_sequence.to_le_bytes());
        head[24..32].copy_from_slice(&self.base_ns.to_le_bytes());
        head[32..40].copy_from_slice(&self.lost_before.to_le_bytes());
        head[40..44].fill(0);
        let mut hasher = Hasher::new();
        hasher.update(&self.bytes[..BLOCK_HEADER - 4]);
        hasher.update(&self.bytes[BLOCK_HEADER..end]);
        self.bytes[BLOCK_HEADER - 4..BLOCK_HEADER]
            .copy_from_slice(&hasher.finalize().to_le_bytes());
        &self.bytes[..end]
    }
}
