//! What ends a program before it ends by itself: its time is over, or it writes too much.

use pentathlon_os::accounted;
use pentathlon_os::process::Group;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Why a program was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    TookTooLong,
    WroteTooMuch,
}

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
    /// Ends the program when the time is over.
    pub fn limit(&self, limit: Duration) -> JoinHandle<()> {
        let watch = self.clone();
        std::thread::spawn(move || {
            let deadline = Instant::now() + limit;
            let (state, changed) = &*watch.0;
            let mut now = state.lock().expect("nobody panics with it");
            while !now.over {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    drop(now);
                    return watch.end(Why::TookTooLong);
                }
                now = changed
                    .wait_timeout(now, left)
                    .expect("nobody panics with it")
                    .0;
            }
        })
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

fn kill(state: &State) {
    if let Some((child, group)) = &state.child {
        if let Some(group) = group {
            group.kill();
        }
        accounted::kill(*child);
    }
}
