//! However a run ends, its files are gone.

use super::driver::{of_kind, run, Directory};
use serde_json::json;
#[cfg(target_os = "linux")]
use serde_json::Value;
#[cfg(target_os = "linux")]
use std::io::{BufRead, BufReader, Lines, Write};
#[cfg(target_os = "linux")]
use std::path::Path;
#[cfg(target_os = "linux")]
use std::process::{Child, ChildStdout, Command, Stdio};

#[test]
fn a_killed_worker_leaves_nothing_in_a_directory_that_was_named() {
    let named = Directory::under(&std::env::temp_dir());
    let events = run(&json!([
        {"id": "disk.order", "iterations": 100_000, "timeout_s": 1.0,
         "parameters": {"file_bytes": 1 << 20, "directory": named.path()}},
        {"id": "disk.metadata", "iterations": 1,
         "parameters": {"files": 10, "directory": named.path()}},
    ]));
    let errors = of_kind(&events, "error");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0]["kind"], "timeout");
    let begun = of_kind(&events, "progress");
    assert!(begun
        .iter()
        .any(|p| p["index"] == 0 && p["state"] == "case"));
    assert!(of_kind(&events, "sample").iter().any(|s| s["index"] == 1));
    assert_eq!(named.names(), [""; 0]);
}

/// A session in the middle of a disk workload, ended by force when dropped, with its worker.
#[cfg(target_os = "linux")]
struct Running {
    supervisor: Child,
    worker: String,
    /// Nobody reads on, but a pipe without a reader would end the session.
    _events: Lines<BufReader<ChildStdout>>,
}

#[cfg(target_os = "linux")]
impl Running {
    fn start(scratch: &Path, named: &Path) -> Self {
        let mut supervisor = Command::new(env!("CARGO_BIN_EXE_pentathlon-agent"))
            .arg("run")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the agent starts");
        let request = json!({
            "protocol": 2, "seed": 3, "scratch": scratch,
            "workloads": [{"id": "disk.order", "iterations": 100_000, "timeout_s": 600.0,
                           "parameters": {"file_bytes": 1 << 20, "directory": named}}],
        });
        let mut input = supervisor.stdin.take().expect("stdin is piped");
        writeln!(input, "{request}").expect("the agent reads");
        let output = supervisor.stdout.take().expect("stdout is piped");
        let mut events = BufReader::new(output).lines();
        let begun = events.by_ref().map_while(Result::ok).any(|line| {
            let event: Value = serde_json::from_str(&line).expect("every line is JSON");
            event["event"] == "progress" && event["state"] == "case"
        });
        assert!(begun, "the workload runs");
        let worker = child_of(supervisor.id()).expect("the supervisor has a worker");
        Self {
            supervisor,
            worker,
            _events: events,
        }
    }

    fn signal(&self, name: &str) {
        let reported = Command::new("kill").args([name, &self.worker]).status();
        assert!(reported.expect("kill(1) runs").success());
    }
}

/// A child of the process, as proc_pid_status(5) reports.
#[cfg(target_os = "linux")]
fn child_of(parent: u32) -> Option<String> {
    let line = format!("PPid:\t{parent}\n");
    let names = std::fs::read_dir("/proc").ok()?.flatten();
    names
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .find(|name| {
            std::fs::read_to_string(format!("/proc/{name}/status"))
                .is_ok_and(|status| status.contains(&line))
        })
}

#[cfg(target_os = "linux")]
impl Drop for Running {
    /// The worker has no chance to clear up after its supervisor.
    fn drop(&mut self) {
        self.signal("-STOP");
        self.supervisor.kill().expect("SIGKILL");
        self.supervisor.wait().expect("it ends");
        self.signal("-KILL");
        let place = format!("/proc/{}/fd", self.worker);
        while std::fs::read_dir(&place).is_ok_and(|open| open.count() > 0) {
            std::thread::yield_now();
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_next_run_removes_what_a_killed_supervisor_left_and_nothing_of_a_living_one() {
    let named = Directory::under(&std::env::temp_dir());
    let scratch = Directory::under(&std::env::temp_dir());
    let next = || {
        let events = run(&json!([{"id": "disk.metadata", "iterations": 1,
            "parameters": {"files": 10, "directory": named.path()}}]));
        assert!(of_kind(&events, "error").is_empty(), "{events:?}");
        named.names()
    };
    let living = Running::start(scratch.path(), named.path());
    let its = named.names();
    assert_eq!(its.len(), 1, "{its:?}");
    assert_eq!(next(), its, "it still works there");
    drop(Running::start(scratch.path(), named.path()));
    assert_eq!(named.names().len(), 2, "a killed one leaves its directory");
    assert_eq!(next(), its);
    drop(living);
    assert_eq!(named.names(), its);
    assert_eq!(next(), [""; 0]);
}
