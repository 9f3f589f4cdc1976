//! Sentences for what a system refuses to do with processes.

use pentathlon_harness::measure::Failure;
use std::io;

/// Why `fork` made no process (`fork(2)`, ERRORS).
#[cold]
pub fn of_fork(error: &io::Error) -> Failure {
    match error.raw_os_error() {
        Some(libc::EAGAIN) => Failure::Failed(
            "fork made no process: a limit on processes is reached (`ulimit -u`, pids.max of the \
             control group, or kernel.threads-max); a higher limit is needed"
                .into(),
        ),
        Some(libc::ENOMEM) => Failure::Failed(
            "fork made no process: there is not enough memory for a copy of this one".into(),
        ),
        _ => Failure::system("fork", error),
    }
}

/// A fork copies the calling thread alone, so a process with others must not be measured by it.
pub fn unless_single_threaded() -> Result<(), Failure> {
    // Where the system does not report, the worker's own promise stands: it starts no thread. An
    // emulator of programs (qemu-user) reports 0 for its guest, and its own threads in the folder
    // /proc/self/task.
    let threads = std::fs::read_to_string("/proc/self/stat").map(|text| threads_in(&text));
    match threads.ok().flatten().unwrap_or(0) {
        0 | 1 => Ok(()),
        count => Err(Failure::Invalid(format!(
            "the worker has {count} threads, and fork is measured from a process with one"
        ))),
    }
}

/// The number of threads in the text of /proc/PID/stat (proc(5), field 20). The name before it, in
/// parentheses, may hold any character.
fn threads_in(stat: &str) -> Option<u32> {
    const AFTER_NAME: usize = 17;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(AFTER_NAME)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_counted() {
        let text = |count: &str| {
            format!("7 (a) 9 b)) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 {count} 0 5 1 2")
        };
        assert_eq!(threads_in(&text("3")), Some(3));
        assert_eq!(threads_in("7 (a) S 1"), None);
        assert_eq!(threads_in(&text("x")), None);
    }

    #[test]
    fn a_limit_on_processes_is_distinguished_from_a_forbidden_call() {
        let limit = of_fork(&io::Error::from_raw_os_error(libc::EAGAIN));
        assert!(
            matches!(limit, Failure::Failed(ref s) if s.contains("ulimit -u")),
            "{limit:?}"
        );
        let forbidden = of_fork(&io::Error::from_raw_os_error(libc::ENOSYS));
        assert!(
            matches!(forbidden, Failure::Unsupported(_)),
            "{forbidden:?}"
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_with_threads_is_refused() {
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || wait.recv().ok());
        let refused = unless_single_threaded();
        drop(done);
        thread.join().unwrap();
        assert!(matches!(refused, Err(Failure::Invalid(_))), "{refused:?}");
    }
}
