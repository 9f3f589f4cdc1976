//! What is wrong or impossible gets a sentence, and the other cases go on.

use super::driver::{may_act_as_root, of_kind, Run};
use serde_json::{json, Value};

fn errors(events: &[Value]) -> Vec<(&str, &str)> {
    of_kind(events, "error")
        .into_iter()
        .map(|e| {
            (
                e["kind"].as_str().expect("text"),
                e["reason"].as_str().expect("text"),
            )
        })
        .collect()
}

fn only_error(events: &[Value]) -> (&str, &str) {
    let found = errors(events);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0]
}

#[test]
fn a_wrong_parameter_is_named_with_what_would_be_right() {
    for (id, parameters, expected) in [
        ("open_close", json!({"flags": "append"}), "paper, read_only"),
        (
            "create_delete",
            json!({"mode": ["twice"]}),
            "default, synchronous",
        ),
        ("page_fault", json!({"pages": [1]}), "at least 16"),
        ("signal", json!({"kind": []}), "at least one value"),
        ("malloc_free", json!({"bytes": [0]}), "at least 1 B"),
        ("fork_wait", json!({"opt_levels": ["4"]}), "0, 1, 2, 3"),
        (
            "pipe_round_trip",
            json!({"bytes": [4097]}),
            "at most 4096 B",
        ),
        ("call_styles", json!({"repetitions": [0]}), "at least 1"),
        ("call_styles", json!({"size": 0}), "at least 1"),
        ("getpid", json!({"cached": true}), "known are: opt_levels"),
    ] {
        let workload = json!([{"id": format!("process.{id}"), "parameters": parameters}]);
        let events = Run::start(&workload).finish();
        let (kind, reason) = only_error(&events);
        assert_eq!(kind, "request", "{id}");
        assert!(reason.contains(expected), "{id}: {reason}");
        assert!(of_kind(&events, "sample").is_empty(), "{id}");
    }
}

#[test]
fn more_memory_than_there_is_fails_and_the_next_size_is_measured() {
    // One GiB does not fit into half a GiB of address space.
    let events = Run::start_by(
        &["prlimit", "--as=536870912"],
        &json!([
            {"id": "process.malloc_free", "parameters": {"bytes": [1 << 30, 4]},
             "iterations": 1, "sample_ms": 0.5},
            {"id": "process.fork_wait", "parameters": {"resident_bytes": [1 << 30, 0]},
             "iterations": 1, "sample_ms": 0.5},
        ]),
    )
    .finish();
    let found = errors(&events);
    assert_eq!(found.len(), 2, "{found:?}");
    for (kind, reason) in found {
        // A machine with less memory skips this.
        assert!(["failed", "unsupported"].contains(&kind), "{kind}");
        assert!(reason.contains("1073741824"), "{reason}");
    }
    let measured = |index: u64| {
        of_kind(&events, "sample")
            .iter()
            .any(|s| s["index"] == index && s["phase"] == "measure")
    };
    assert!(measured(0) && measured(1), "{events:?}");
}

#[test]
fn a_stack_too_small_for_the_recursion_is_unsupported_and_does_not_crash() {
    let events = Run::start_by(
        &["prlimit", "--stack=262144"],
        &json!([{
            "id": "process.call_styles", "iterations": 1, "sample_ms": 0.5,
            "parameters": {"repetitions": [4], "fork_repetitions": [1]},
        }]),
    )
    .finish();
    let (kind, reason) = only_error(&events);
    assert_eq!(kind, "unsupported");
    assert!(reason.contains("ulimit -s"), "{reason}");
    let error = of_kind(&events, "error")[0];
    assert_eq!(error["case"]["style"], "recursion");
    for style in ["inline", "function", "fork"] {
        let samples = of_kind(&events, "sample");
        assert!(
            samples.iter().any(|s| s["case"]["style"] == style),
            "{style}"
        );
    }
}

#[test]
fn a_scratch_directory_without_execution_is_unsupported_for_exec_alone() {
    if !may_act_as_root("mounting a directory noexec") {
        return;
    }
    let mount = "mount -t tmpfs -o noexec tmpfs SCRATCH && exec \"$@\"";
    let events = Run::start_by(
        &["unshare", "-m", "sh", "-c", mount, "sh"],
        &json!([
            {"id": "process.fork_exec", "iterations": 1, "sample_ms": 0.5},
            {"id": "process.create_delete", "iterations": 1, "sample_ms": 0.5},
        ]),
    )
    .finish();
    if of_kind(&events, "done").is_empty() {
        eprintln!("skipped: this system does not let a test mount a directory");
        return;
    }
    let (kind, reason) = only_error(&events);
    assert_eq!(kind, "unsupported");
    assert!(reason.contains("noexec"), "{reason}");
    assert_eq!(of_kind(&events, "error")[0]["index"], 0);
    assert!(of_kind(&events, "sample").iter().any(|s| s["index"] == 1));
}

#[test]
fn a_limit_on_processes_is_named() {
    if !may_act_as_root("becoming another user with a limit on processes") {
        return;
    }
    // A user that nobody else is, with room for the agent and its worker.
    let user = "--reuid=3141592653";
    let events = Run::start_by(
        &[
            "sh",
            "-c",
            "chmod 777 SCRATCH && cp \"$1\" SCRATCH/agent && chmod 755 SCRATCH/agent && \
             setpriv \"$0\" --clear-groups prlimit --nproc=2 SCRATCH/agent run; rm SCRATCH/agent",
            user,
        ],
        &json!([{
            "id": "process.fork_wait", "iterations": 1, "sample_ms": 0.5,
        }]),
    )
    .finish();
    if of_kind(&events, "done").is_empty() {
        eprintln!("skipped: this system does not let a test become another user");
        return;
    }
    let (kind, reason) = only_error(&events);
    assert_eq!(kind, "failed");
    assert!(reason.contains("ulimit -u"), "{reason}");
}
