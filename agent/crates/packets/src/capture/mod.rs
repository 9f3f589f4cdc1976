//! Every frame of an interface, kept with its time as a pcapng file.

#[cfg(test)]
mod hostile;
mod pcapng;

use pcapng::Writer;
use pentathlon_os::block_ring::{Counted, Ring, RETIRE_LATER_MS};
use pentathlon_os::poll::{wait, Ready};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// A capture in progress. Dropped, it ends.
#[derive(Debug)]
pub struct Capture {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<Captured>>>,
    path: PathBuf,
}

/// What a capture has.
#[derive(Debug, Clone, Copy, Default)]
pub struct Captured {
    /// Frames in the file.
    pub frames: u64,
    /// Their bytes on the link, without the check sequence.
    pub bytes: u64,
    /// Frames for which the kernel's ring had no room: the file lacks them.
    pub dropped: u64,
}

impl Capture {
    /// Captures both directions of an interface into a new file. Frames from now on are in it.
    pub fn start(interface: u32, name: &str, path: &Path) -> io::Result<Self> {
        let mut ring = Ring::both_ways(interface)?;
        let mut writer = Writer::new(File::create_new(path)?, name)?;
        let over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&over);
        let thread = std::thread::Builder::new()
            .name("capture".into())
            .spawn(move || run(&mut ring, &mut writer, &ended))?;
        Ok(Self {
            over,
            thread: Some(thread),
            path: path.to_path_buf(),
        })
    }

    /// Ends the capture once everything that has come by is in the file.
    pub fn stop(mut self) -> io::Result<(Captured, PathBuf)> {
        self.over.store(true, Ordering::Release);
        let thread = self.thread.take().expect("joined only once");
        let captured = thread
            .join()
            .map_err(|_| io::Error::other("the capture panicked"))??;
        Ok((captured, self.path.clone()))
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.over.store(true, Ordering::Release);
            thread.join().ok();
            std::fs::remove_file(&self.path).ok();
        }
    }
}

fn run(ring: &mut Ring, writer: &mut Writer<File>, over: &AtomicBool) -> io::Result<Captured> {
    let mut captured = Captured::default();
    let mut seen = 0;
    loop {
        // The word comes before the look: what was on its way at that time is in a block that the
        // kernel retires within its time.
        let last = over.load(Ordering::Acquire);
        let patience = if last { 4 * RETIRE_LATER_MS } else { 50 };
        wait(
            ring.descriptor(),
            Ready::Read,
            Duration::from_millis(patience.into()),
        )?;
        let mut outcome = Ok(());
        let mut came = false;
        while ring.block(|frame| {
            captured.frames += 1;
            captured.bytes += u64::from(frame.length);
            let wrote = writer.frame(frame.stamp_ns, frame.link, frame.length);
            outcome = std::mem::replace(&mut outcome, Ok(())).and(wrote);
        }) {
            came = true;
        }
        outcome?;
        // The kernel begins again from zero at each question, in 32 bits.
        let Counted {
            seen: more,
            dropped,
        } = ring.counted()?;
        seen += u64::from(more);
        captured.dropped += u64::from(dropped);
        if last && !came {
            break;
        }
    }
    writer.finish(seen, captured.dropped)?;
    Ok(captured)
}
