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
    // Where the system does not report, the worker's own promise stands: it starts no thread.
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else {
        return Ok(());
    };
    match threads.count() {
        0 | 1 => Ok(()),
        count => Err(Failure::Invalid(format!(
            "the worker has {count} threads, and fork is measured from a process with one"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
