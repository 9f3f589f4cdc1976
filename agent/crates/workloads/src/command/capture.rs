//! What a program writes: read as it comes, the end of it kept, and too much of it reported.

use super::ready::Ready;
use pentathlon_protocol::command::MOST_OUTPUT;
use std::fs::File;
use std::io::{self, PipeReader, Read, Seek};
use std::path::Path;
use std::thread::JoinHandle;

/// A thread that reads one stream to its end.
pub struct Capture(JoinHandle<(Vec<u8>, u64)>);

impl Capture {
    /// Keeps the last `keep` bytes; calls `flooded` once if there are more than may be written.
    pub fn start(
        mut stream: PipeReader,
        keep: usize,
        flooded: impl FnOnce() + Send + 'static,
        ready: Ready,
    ) -> Self {
        Self(std::thread::spawn(move || {
            let mut flooded = Some(flooded);
            let (mut kept, mut total) = (Vec::new(), 0);
            let mut buffer = vec![0; 64 << 10];
            drop(ready);
            loop {
                let count = match stream.read(&mut buffer) {
                    Ok(0) | Err(_) => return (end(kept, keep), total),
                    Ok(count) => count,
                };
                total += count as u64;
                kept.extend_from_slice(&buffer[..count]);
                if kept.len() > 2 * keep {
                    kept.drain(..kept.len() - keep);
                }
                if total > MOST_OUTPUT {
                    // Read on until the writer is gone, so that it does not wait for a reader.
                    if let Some(flooded) = flooded.take() {
                        flooded();
                    }
                }
            }
        }))
    }

    /// The text of the end of the stream, and how many bytes there were.
    pub fn finish(self) -> (String, u64) {
        let (kept, total) = self.0.join().unwrap_or_default();
        (String::from_utf8_lossy(&kept).into_owned(), total)
    }
}

fn end(mut kept: Vec<u8>, keep: usize) -> Vec<u8> {
    let more = kept.len().saturating_sub(keep);
    kept.drain(..more);
    kept
}

/// The end of what stands in a file, and how many bytes there are.
pub fn end_of(path: &Path, keep: usize) -> io::Result<(String, u64)> {
    let mut file = File::open(path)?;
    let total = file.metadata()?.len();
    file.seek(io::SeekFrom::Start(total.saturating_sub(keep as u64)))?;
    let mut kept = Vec::new();
    file.take(keep as u64).read_to_end(&mut kept)?;
    Ok((String::from_utf8_lossy(&kept).into_owned(), total))
}
