//! From the hot path to the file: full blocks go to a writer thread, empty ones come back.

use super::block::{Block, Kind, Record};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender, TryRecvError, TrySendError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Blocks between the hot path and the writer: two million records, 32 MiB.
const BLOCKS: usize = 256;

/// How long a record waits for room where it may: half a second in all.
const PATIENCE: Duration = Duration::from_micros(200);
const PATIENCE_TIMES: u32 = 2500;

/// Takes the records of one flow. It never waits for the writer: records without a free block are
/// counted as lost, and the next block states how many.
pub struct Recorder {
    block: Option<Block>,
    full: SyncSender<Block>,
    empty: Receiver<Block>,
    kind: Kind,
    lost: u64,
}

/// The thread that writes one flow's blocks to a file.
pub struct Writer {
    thread: JoinHandle<io::Result<u64>>,
    pub path: PathBuf,
}

impl Recorder {
    /// A recorder and its writer; the file must not exist.
    pub fn open(flow: u32, kind: Kind, path: &Path) -> io::Result<(Self, Writer)> {
        let mut file = File::create_new(path)?;
        let (full, to_write) = sync_channel::<Block>(BLOCKS);
        let (give_back, empty) = sync_channel::<Block>(BLOCKS);
        for _ in 0..4 {
            give_back
                .send(Block::new(flow, kind))
                .expect("the channel is open and has room");
        }
        let thread = std::thread::Builder::new()
            .name("records".into())
            .spawn(move || {
                let mut bytes = 0;
                let mut made = 4;
                for mut block in to_write {
                    let data = block.finish();
                    file.write_all(data)?;
                    bytes += data.len() as u64;
                    block.clear();
                    give_back.try_send(block).ok();
                    // More blocks are made off the hot path, and only where they are needed.
                    if made < BLOCKS {
                        made += 1;
                        give_back.try_send(Block::new(flow, kind)).ok();
                    }
                }
                file.flush()?;
                Ok(bytes)
            })?;
        let recorder = Self {
            block: None,
            full,
            empty,
            kind,
            lost: 0,
        };
        let writer = Writer {
            thread,
            path: path.to_path_buf(),
        };
        Ok((recorder, writer))
    }

    /// Writes down one packet: its sequence, its time, and the rest of its record.
    #[inline]
    pub fn record(&mut self, sequence: u64, time_ns: u64, number: u32, length: u16, flags: u16) {
        let kind = self.kind;
        self.push(sequence, time_ns, |block| Record {
            time_ns: time_ns.wrapping_sub(block.base_ns),
            number: match kind {
                Kind::Received | Kind::Echoes | Kind::Heard | Kind::Left => {
                    sequence.wrapping_sub(block.base_sequence) as u32
                }
                Kind::Sent | Kind::Exchange => number,
            },
            length,
            flags,
        });
    }

    /// As [`Self::record`], off the hot path: it waits for the writer.
    pub fn record_in_time(&mut self, sequence: u64, time_ns: u64, number: u32, length: u16) {
        for _ in 0..PATIENCE_TIMES {
            let lost = self.lost;
            self.record(sequence, time_ns, number, length, 0);
            if self.lost == lost {
                return;
            }
            self.lost = lost;
            std::thread::sleep(PATIENCE);
        }
        self.lost += 1;
    }

    /// Counts packets that are known to have been there, and no more.
    pub fn lose(&mut self, packets: u64) {
        self.lost += packets;
    }

    /// Writes down two times as they are.
    pub fn pair(&mut self, first: u64, second: u64) {
        self.push(0, 0, |_| Record {
            time_ns: first,
            number: second as u32,
            length: (second >> 32) as u16,
            flags: (second >> 48) as u16,
        });
    }

    /// Adds a record to the block, which a first record gives its bases.
    #[inline]
    fn push(&mut self, base_sequence: u64, base_ns: u64, make: impl FnOnce(&Block) -> Record) {
        let block = match &mut self.block {
            Some(block) => block,
            none => match self.empty.try_recv() {
                Ok(mut block) => {
                    block.base_sequence = base_sequence;
                    block.base_ns = base_ns;
                    block.lost_before = self.lost;
                    none.insert(block)
                }
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => {
                    self.lost += 1;
                    return;
                }
            },
        };
        let record = make(block);
        block.push(record);
        if block.is_full() {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let Some(block) = self.block.take().filter(|block| !block.is_empty()) else {
            return;
        };
        let count = super::RECORDS_IN_BLOCK as u64;
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) =
            self.full.try_send(block)
        {
            self.lost += count;
        }
    }

    /// Hands over what is left; returns how many records were lost.
    pub fn finish(mut self) -> u64 {
        if let Some(block) = self.block.take().filter(|block| !block.is_empty()) {
            // The run is over: this may wait.
            self.full.send(block).ok();
        }
        self.lost
    }
}

impl Writer {
    /// Waits until everything is in the file; the recorder must have been finished.
    pub fn join(self) -> io::Result<u64> {
        self.thread
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the writer of the records panicked")))
    }
}
