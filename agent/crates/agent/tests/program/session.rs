//! The program itself, driven over its standard input and output as an experimenter drives it.

use serde_json::{json, Value};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Output, Stdio};

pub fn agent(verb: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pentathlon-agent"));
    command
        .arg(verb)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Sends `request` and keeps standard input open, as a console is.
fn start(request: &str) -> Child {
    let mut child = agent("run").spawn().expect("the agent starts");
    let input = child.stdin.as_mut().expect("stdin is piped");
    input
        .write_all(request.as_bytes())
        .expect("the agent reads");
    input.flush().expect("the agent reads");
    child
}

pub fn events_of(request: &Value) -> Vec<Value> {
    let mut child = start(&format!("{request}\n"));
    let output = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let events = output
        .lines()
        .map(|line| serde_json::from_str(&line.expect("text")).expect("every line is JSON"))
        .collect();
    assert!(child.wait().expect("the agent ends").success());
    events
}

fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|e| e["event"] == kind).collect()
}

fn refused(request: &str) -> Output {
    let mut child = start(request);
    drop(child.stdin.take());
    let output = child.wait_with_output().expect("the agent ends");
    assert_eq!(output.status.code(), Some(2), "{request}");
    output
}

#[test]
fn a_session_has_its_events_in_order_and_counts_them() {
    let events = events_of(&json!({
        "protocol": 2, "session": "5f", "inventory": true,
        "workloads": [
            {"id": "test.spin", "iterations": 4, "warmup": 2, "sample_ms": 0.5, "processes": 2},
            {"id": "no.such"},
        ],
    }));
    assert_eq!(events[0]["event"], "inventory");
    assert_eq!(events[0]["session"], "5f");
    assert!(events[0]["system"].is_object());
    assert!(events[0]["clock"]["cost_ns"].as_f64().expect("a number") > 0.0);
    let measured: Vec<_> = of_kind(&events, "sample")
        .into_iter()
        .filter(|s| s["phase"] == "measure")
        .collect();
    let places: Vec<_> = measured
        .iter()
        .map(|s| {
            (
                s["process"].as_u64().unwrap(),
                s["iteration"].as_u64().unwrap(),
            )
        })
        .collect();
    let expected: Vec<_> = (0..2).flat_map(|p| (0..4).map(move |i| (p, i))).collect();
    assert_eq!(places, expected);
    let ends: Vec<_> = of_kind(&events, "progress")
        .into_iter()
        .filter(|p| p["state"] == "end")
        .map(|p| p["index"].as_u64().unwrap())
        .collect();
    assert_eq!(ends, [0, 1]);
    let errors = of_kind(&events, "error");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0]["kind"], "request");
    let done = events.last().expect("events");
    assert_eq!(done["event"], "done");
    assert_eq!(done["errors"], 1);
    assert_eq!(
        done["samples"].as_u64().unwrap() as usize,
        of_kind(&events, "sample").len()
    );
    let times: Vec<_> = events.iter().map(|e| e["t_ns"].as_u64().unwrap()).collect();
    assert!(times.windows(2).all(|pair| pair[0] <= pair[1]), "{times:?}");
}

#[test]
fn every_sample_of_a_case_has_one_checksum_whatever_its_batch() {
    let events = events_of(&json!({
        "protocol": 2,
        "workloads": [
            {"id": "test.spin", "sample_ms": 0.2},
            {"id": "test.spin", "sample_ms": 2.0, "parameters": {"slowdown_percent": 50}},
        ],
    }));
    let samples = of_kind(&events, "sample");
    let batches: std::collections::BTreeSet<_> =
        samples.iter().map(|s| s["batch"].as_u64()).collect();
    assert!(batches.len() > 2, "{batches:?}");
    assert!(samples
        .iter()
        .all(|s| s["checksum"] == samples[0]["checksum"]));
}

#[test]
fn a_workload_that_takes_too_long_is_ended_and_the_next_one_runs() {
    let events = events_of(&json!({
        "protocol": 2,
        "workloads": [
            {"id": "test.spin", "iterations": 100_000, "sample_ms": 20.0, "timeout_s": 0.3},
            {"id": "test.spin", "iterations": 1, "sample_ms": 0.2},
        ],
    }));
    let errors = of_kind(&events, "error");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0]["kind"], "timeout");
    assert_eq!(errors[0]["index"], 0);
    assert!(of_kind(&events, "sample").iter().any(|s| s["index"] == 1));
}

#[test]
fn a_wrong_request_gets_one_sentence_and_status_2() {
    for (request, expected) in [
        ("{\"protocol\": 9, \"workloads\": []}\n", "protocol 9"),
        ("{\"protocol\": 2}\n", "missing field `workloads`"),
        (
            "{\"protocol\": 2, \"workloads\": [], \"x\": 1}\n",
            "unknown field `x`",
        ),
        (
            "{\"protocol\": 2, \"workloads\": [{\"id\": \"test.spin\", \"iterations\": 0}]}\n",
            "1 to 100000",
        ),
        (
            "{\"protocol\": 2, \"workloads\": [{\"id\": \"test.spin\", \"sample_ms\": -1}]}\n",
            "above 0",
        ),
        ("not JSON\n", "not right"),
        ("{\"protocol\": 2", "ended before"),
        ("", "ended before"),
    ] {
        let output = refused(request);
        let error = String::from_utf8(output.stderr).expect("text");
        assert!(error.contains(expected), "{request}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        let event: Value = serde_json::from_slice(&output.stdout).expect("one event");
        assert_eq!(event["kind"], "request");
    }
}

#[test]
fn an_impossible_placement_is_reported_for_every_workload() {
    let events = events_of(&json!({
        "protocol": 2, "placement": {"cpus": [1000]},
        "workloads": [{"id": "test.spin", "iterations": 1, "sample_ms": 0.2}],
    }));
    let errors = of_kind(&events, "error");
    assert_eq!(errors.len(), 1, "{events:?}");
    assert!(
        errors[0]["reason"].as_str().unwrap().contains("1000"),
        "{errors:?}"
    );
    assert!(of_kind(&events, "sample").is_empty());
}

#[test]
fn a_placement_is_applied_and_recorded() {
    let events = events_of(&json!({
        "protocol": 2, "placement": {"cpus": [0], "policy": "batch", "nice": 3},
        "workloads": [],
    }));
    let placement = &events[0]["placement"];
    assert_eq!(placement["cpus"], json!([0]));
    assert_eq!(placement["policy"], "batch");
    assert_eq!(placement["nice"], 3);
}

#[test]
fn the_scratch_directory_is_left_empty() {
    let parent = std::env::temp_dir().join(format!("agent-session-{}", std::process::id()));
    std::fs::create_dir(&parent).expect("a new directory");
    events_of(&json!({
        "protocol": 2, "scratch": parent,
        "workloads": [{"id": "test.spin", "iterations": 1, "sample_ms": 0.2}],
    }));
    assert_eq!(std::fs::read_dir(&parent).expect("still there").count(), 0);
    std::fs::remove_dir(&parent).expect("empty");
}

#[test]
fn the_catalog_is_consistent() {
    let output = agent("catalog").output().expect("the agent starts");
    let catalog: Value = serde_json::from_slice(&output.stdout).expect("one document");
    let workloads = catalog["workloads"].as_array().expect("a list");
    let mut ids: Vec<_> = workloads
        .iter()
        .map(|w| w["id"].as_str().unwrap())
        .collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id stands twice");
    for workload in workloads {
        let id = workload["id"].as_str().unwrap();
        assert_eq!(workload["area"].as_str(), id.split('.').next(), "{id}");
        for key in ["title", "summary", "source", "checksum"] {
            assert!(!workload[key].as_str().unwrap().is_empty(), "{id}: {key}");
        }
        assert!(!workload["metrics"].as_array().unwrap().is_empty(), "{id}");
        for metric in workload["metrics"].as_array().unwrap() {
            assert!(!metric["unit"].as_str().unwrap().is_empty(), "{id}");
        }
    }
}

#[test]
fn a_wrong_verb_reports_what_there_is() {
    for arguments in [
        vec!["nonsense"],
        vec![],
        vec!["run", "twice"],
        vec!["--wrong"],
        vec!["init"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_pentathlon-agent"))
            .args(&arguments)
            .output()
            .expect("the agent starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let error = String::from_utf8(output.stderr).expect("text");
        assert!(error.contains("--help"), "{error}");
    }
}
