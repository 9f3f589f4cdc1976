//! What ends a program before it ends by itself: its time is over, or it writes too much.

use super::ready::Ready;
use pentathlon_os::accounted;
use pentathlon_os::disk::place;
use pentathlon_os::process::Group;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Why a program was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    TookTooLong,
    WroteTooMuch,
    /// Many files can fill a disk where each of them is small.
    FilledTheDisk,
}

/// How often the room on the disk is looked at: one call to the system.
const LOOK: Duration = Duration::from_millis(100);

/// What stays free on a disk, in bytes, or an eighth of what was free at first where that is less.
const KEPT_FREE: u64 = 512 << 20;

#[derive(Default)]
struct State {
    /// The program, once it runs and as long as it has not been collected.
    child: Option<(u32, Option<Group>)>,
    why: Option<Why>,
    over: bool,
}

/// Watches one program. Made before it is started, so that its time has nothing of that.
#[derive(Clone, Default)]
pub struct Watch(Arc<(Mutex<State>, Condvar)>);

impl Watch {
    /// Ends the program when the time is over, or the disk of its directory almost full.
    pub fn limit(&self, limit: Duration, directory: &Path, ready: Ready) -> JoinHandle<()> {
        let watch = self.clone();
        let directory = PathBuf::from(directory);
        std::thread::spawn(move || {
            let free = || place::free_bytes(&directory).ok().flatten();
            let kept = free().map(kept_free);
            let deadline = Instant::now() + limit;
            drop(ready);
            loop {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return watch.end(Why::TookTooLong);
                }
                if watch.waited(kept.map_or(left, |_| left.min(LOOK))) {
                    return;
                }
                // Nobody waits for the answer of the disk.
                if let (Some(kept), Some(free)) = (kept, free()) {
                    if free < kept {
                        return watch.end(Why::FilledTheDisk);
                    }
                }
            }
        })
    }

    /// Waits for so long, or until the program has ended; whether it has.
    fn waited(&self, time: Duration) -> bool {
        let (state, changed) = &*self.0;
        let now = state.lock().expect("nobody panics with it");
        changed
            .wait_timeout_while(now, time, |state| !state.over)
            .expect("nobody panics with it")
            .0
            .over
    }

    /// The program runs.
    pub fn began(&self, child: u32, group: Option<Group>) {
        let mut state = self.0 .0.lock().expect("nobody panics with it");
        state.child = Some((child, group));
        // It may have written too much before its number was known.
        if state.why.is_some() {
            kill(&state);
        }
    }

    pub fn end(&self, why: Why) {
        let mut state = self.0 .0.lock().expect("nobody panics with it");
        if !state.over {
            state.why.get_or_insert(why);
            kill(&state);
        }
    }

    /// The program has ended, and its number is about to be free; why it was ended, if it was, and
    /// its group, which lives on as long as this is kept.
    pub fn over(&self) -> (Option<Why>, Option<Group>) {
        let mut state = self.0 .0.lock().expect("nobody panics with it");
        state.over = true;
        let group = state.child.take().and_then(|(_, group)| group);
        self.0 .1.notify_all();
        (state.why, group)
    }
}

/// What has to stay free where so much was free at first, in bytes.
fn kept_free(at_first: u64) -> u64 {
    KEPT_FREE.min(at_first / 8)
}

fn kill(state: &State) {
    if let Some((child, group)) = &state.child {
        if let Some(group) = group {
            group.kill();
        }
        accounted::kill(*child);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_disk_keeps_its_room_and_a_small_one_an_eighth() {
        assert_eq!(kept_free(1 << 40), KEPT_FREE);
        assert_eq!(kept_free(64 << 20), 8 << 20);
        assert_eq!(kept_free(0), 0);
    }

    #[test]
    fn the_watch_ends_with_the_program() {
        let watch = Watch::default();
        let limit = watch.limit(
            Duration::from_secs(3600),
            &std::env::temp_dir(),
            Ready::new().0,
        );
        assert_eq!(watch.over().0, None);
        limit.join().unwrap();
    }
}
