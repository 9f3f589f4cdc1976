//! The blocks of a file of records, as they lie in memory.

use crc32fast::Hasher;

pub const HEADER: usize = 48;

/// One block: what its header says, and its records as bytes (see [`crate::records`]).
pub struct Block<'a> {
    /// Where it begins in the file.
    at: usize,
    head: &'a [u8],
    pub base_sequence: u64,
    pub base_ns: u64,
    pub records: &'a [[u8; 16]],
}

/// The first eight bytes of a record: a time.
#[inline]
pub fn time_of(record: &[u8; 16]) -> u64 {
    u64::from_le_bytes(record[0..8].try_into().expect("8 bytes"))
}

/// The next four: a lateness or a sequence.
#[inline]
pub fn number_of(record: &[u8; 16]) -> u32 {
    u32::from_le_bytes(record[8..12].try_into().expect("4 bytes"))
}

/// Bytes of payload.
#[inline]
pub fn length_of(record: &[u8; 16]) -> u16 {
    u16::from_le_bytes([record[12], record[13]])
}

impl Block<'_> {
    /// Compares the block with its checksum.
    pub fn check(&self) -> Result<(), String> {
        let mut hasher = Hasher::new();
        hasher.update(&self.head[..HEADER - 4]);
        hasher.update(self.records.as_flattened());
        if hasher.finalize().to_le_bytes() == self.head[HEADER - 4..] {
            Ok(())
        } else {
            Err(format!(
                "the block of records at byte {} is damaged (CRC-32)",
                self.at
            ))
        }
    }

    /// The sequence behind the block's last one, where sequences are places in the block.
    pub fn end(&self) -> u64 {
        self.base_sequence.saturating_add(self.records.len() as u64)
    }
}

/// Splits a file; checksums are not compared yet.
pub fn blocks(data: &[u8]) -> Result<Vec<Block<'_>>, String> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < data.len() {
        let Some((head, rest)) = data[at..].split_at_checked(HEADER) else {
            return Err(format!(
                "the records are torn: a block's header is cut off at byte {at}"
            ));
        };
        if &head[0..4] != b"PTR1" {
            return Err(format!("there is no block of records at byte {at}"));
        }
        let count = u32::from_le_bytes(head[12..16].try_into().expect("4 bytes")) as usize;
        let Some(body) = rest.get(..count * 16) else {
            return Err(format!(
                "the records are torn: the block at byte {at} is cut off"
            ));
        };
        let word = |from: usize| u64::from_le_bytes(head[from..from + 8].try_into().expect("8"));
        found.push(Block {
            at,
            head,
            base_sequence: word(16),
            base_ns: word(24),
            records: body.as_chunks().0,
        });
        at += HEADER + body.len();
    }
    Ok(found)
}
