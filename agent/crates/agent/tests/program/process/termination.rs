//! However a run ends, nothing that it started goes on.

use super::driver::{kill, of_kind, Run, AGENT};
use serde_json::{json, Value};
use std::io::Write;
use std::process::{Command, Stdio};

/// A workload that would take minutes.
fn long(id: &str) -> Value {
    json!([{
        "id": id, "iterations": 100_000, "sample_ms": 20.0,
        "parameters": if id.ends_with("call_styles") {
            json!({"repetitions": [1], "fork_repetitions": [64]})
        } else {
            json!({})
        },
    }])
}

const FORKING: [&str; 4] = [
    "process.pipe_round_trip",
    "process.fork_wait",
    "process.fork_exec",
    "process.call_styles",
];

/// Waits until the worker has a child of its own, if its children live long enough to be seen.
fn wait_until_busy(run: &Run, id: &str) -> u32 {
    let worker = run.worker();
    let processes = if id.ends_with("pipe_round_trip") {
        3
    } else {
        2
    };
    run.wait_for("the workload's processes", || {
        (run.processes().len() >= processes).then_some(())
    });
    run.wait_for("files or time to work", || {
        let time = std::fs::read_to_string(format!("/proc/{worker}/stat")).ok()?;
        // Minor faults (field 10 of proc_pid_stat(5)): it has begun to work.
        let faults: u64 = time
            .rsplit(')')
            .next()?
            .split_whitespace()
            .nth(7)?
            .parse()
            .ok()?;
        (faults > 0).then_some(())
    });
    worker
}

#[test]
fn a_killed_worker_leaves_no_process_and_no_file_and_is_reported() {
    for id in FORKING {
        let run = Run::start(&long(id));
        kill(wait_until_busy(&run, id));
        let events = run.finish();
        let errors = of_kind(&events, "error");
        assert_eq!(errors.len(), 1, "{id}: {errors:?}");
        assert_eq!(errors[0]["kind"], "failed", "{id}");
        assert_eq!(of_kind(&events, "done").len(), 1, "{id}");
    }
}

#[test]
fn a_killed_supervisor_takes_its_worker_along() {
    for id in FORKING {
        let mut run = Run::start(&long(id));
        wait_until_busy(&run, id);
        run.kill_supervisor();
        run.assert_no_process_is_left();
    }
}

#[test]
fn a_workload_that_takes_too_long_is_ended_with_its_children() {
    let mut workload = long("process.pipe_round_trip");
    workload[0]["timeout_s"] = json!(0.5);
    let events = Run::start(&workload).finish();
    let errors = of_kind(&events, "error");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0]["kind"], "timeout");
}

#[test]
fn a_killed_echo_is_an_error_and_not_a_hang() {
    let run = Run::start(&long("process.pipe_round_trip"));
    let worker = wait_until_busy(&run, "process.pipe_round_trip");
    let echo = run
        .processes()
        .into_iter()
        .find(|&pid| pid != worker && pid != run.pid())
        .expect("the process at the other end");
    kill(echo);
    let events = run.finish();
    let reasons: Vec<_> = of_kind(&events, "error")
        .into_iter()
        .map(|e| e["reason"].as_str().expect("text"))
        .collect();
    assert!(reasons.iter().any(|r| r.contains("gone")), "{reasons:?}");
}

#[test]
fn the_next_agent_removes_what_a_killed_one_left() {
    let mut killed = Run::start(&long("process.fork_wait"));
    killed.worker();
    killed.kill_supervisor();
    killed.assert_no_process_is_left();
    let left = || {
        std::fs::read_dir(killed.scratch())
            .expect("it is there")
            .count()
    };
    assert_eq!(left(), 1);
    let mut next = Command::new(AGENT)
        .arg("run")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the agent starts");
    let request = json!({"protocol": 2, "scratch": killed.scratch(), "workloads": []});
    let mut input = next.stdin.take().expect("stdin is piped");
    writeln!(input, "{request}").expect("the agent reads");
    assert!(next.wait().expect("the agent ends").success());
    assert_eq!(left(), 0);
}
