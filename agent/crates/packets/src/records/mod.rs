//! What both ends write down: 16 bytes a packet, in checksummed blocks, written by a thread of
//! its own. All numbers are little-endian.
//!
//! A block is a header of 48 bytes and `count` records:
//!
//! | byte | length | what |
//! |---|---|---|
//! | 0 | 4 | `PTR1` |
//! | 4 | 4 | flow |
//! | 8 | 1 | kind: 0 sent, 1 received, 2 echoes, 3 clock exchange, 4 arrivals and 5 departures by the kernel's clock |
//! | 9 | 3 | zero |
//! | 12 | 4 | count |
//! | 16 | 8 | base of the sequences in the block |
//! | 24 | 8 | base of the times in the block, ns |
//! | 32 | 8 | records that this flow lost before the block because the writer was behind |
//! | 40 | 4 | zero |
//! | 44 | 4 | CRC-32 (IEEE 802.3) of the first 44 bytes and the records |
//!
//! | kind | 8 bytes | 4 bytes | 2 bytes | 2 bytes |
//! |---|---|---|---|---|
//! | sent | intended time − base, ns | lateness, ns | length | 0, or the error number of a refused send |
//! | received, echoes, kernel's times | time − base, ns | sequence − base, modulo 2^32 | length | flags |
//! | clock exchange | two records each: t1 and t4, then t2 and t3, see [`super::exchange`] | | | |
//!
//! A sent record's sequence is the base plus its place in the block.

mod block;
mod recorder;

pub use block::{Block, Kind, Record, RECORDS_IN_BLOCK};
pub use recorder::{Recorder, Writer};
