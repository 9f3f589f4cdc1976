//! Sets a guest's clock in the middle of a run, as people and time services do. Nothing of a test
//! between hosts may change by it.

use super::answer::Answer;

/// Sets the clock after `after_ms`, from a thread of its own. Only in a guest that is this agent's
/// own: never the clock of a machine that somebody uses.
#[cfg(target_os = "linux")]
pub fn set(after_ms: u64, to_ns: u64) -> Result<Answer, String> {
    if !is_own_guest() {
        return Err("only the clock of a guest that the agent has booted may be set".into());
    }
    std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(after_ms));
        pentathlon_os::guest::set_clock(to_ns).ok();
    });
    Ok(Answer::Clock { after_ms, to_ns })
}

#[cfg(not(target_os = "linux"))]
pub fn set(_: u64, _: u64) -> Result<Answer, String> {
    Err("clocks are set in guests with Linux only".into())
}

/// Whether process 1 is this program, and started this process.
#[cfg(target_os = "linux")]
fn is_own_guest() -> bool {
    let first = std::fs::read_link("/proc/1/exe");
    std::os::unix::process::parent_id() == 1
        && matches!((first, std::env::current_exe()), (Ok(one), Ok(own)) if one == own)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn the_clock_of_this_machine_is_not_set() {
        assert!(super::set(0, 0).is_err());
    }
}
