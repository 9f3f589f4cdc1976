//! The guard: what it leaves when the verb ends, and when its input does.

use crate::session::agent;
use serde_json::{json, Value};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::Child;

fn place(name: &str) -> PathBuf {
    let place = std::env::temp_dir().join(format!("guarded-{name}-{}", std::process::id()));
    std::fs::remove_dir_all(&place).ok();
    std::fs::create_dir(&place).expect("a directory");
    place
}

fn start(below: &PathBuf, more: &[&str]) -> Child {
    let mut command = agent("guard");
    command.arg("--below").arg(below).args(more).arg("run");
    command.spawn().expect("the guard starts")
}

fn spin(iterations: u64) -> Value {
    json!({"protocol": 2, "session": "5f", "workloads": [
        {"id": "test.spin", "iterations": iterations, "warmup": 0, "sample_ms": 50.0},
    ]})
}

fn next(lines: &mut impl BufRead) -> Value {
    let mut line = String::new();
    lines.read_line(&mut line).expect("text");
    serde_json::from_str(&line).expect("an event")
}

#[test]
fn the_verb_is_served_and_nothing_is_left() {
    let place = place("served");
    let mut child = start(&place, &[]);
    let mut input = child.stdin.take().expect("stdin is piped");
    writeln!(input, "{}", spin(1)).expect("the guard reads");
    let mut output = String::new();
    let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let ready = next(&mut lines);
    let own = ready["message"].as_str().expect("text").to_owned();
    let below = format!("ready in {}", place.display());
    assert!(own.starts_with(&below), "{own}");
    lines.read_to_string(&mut output).expect("text");
    assert!(output.contains("\"event\":\"done\""), "{output}");
    // The input is still open: the end of the verb is the end of the guard.
    assert!(child.wait().expect("the guard ends").success());
    drop(input);
    assert_eq!(std::fs::read_dir(&place).expect("it is there").count(), 0);
    std::fs::remove_dir(place).expect("it is empty");
}

#[test]
fn the_end_of_the_input_ends_everything() {
    let place = place("closed");
    let mut child = start(&place, &[]);
    let mut input = child.stdin.take().expect("stdin is piped");
    writeln!(input, "{}", spin(1000)).expect("the guard reads");
    let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped"));
    while next(&mut lines)["event"] != "progress" {}
    assert_eq!(std::fs::read_dir(&place).expect("it is there").count(), 1);
    drop(input);
    let mut rest = Vec::new();
    // The end of the output is the end of the last process that has it.
    lines.read_to_end(&mut rest).expect("text");
    assert!(child.wait().expect("the guard ends").success());
    assert_eq!(std::fs::read_dir(&place).expect("it is there").count(), 0);
    std::fs::remove_dir(place).expect("it is empty");
}

#[test]
fn an_input_that_never_comes_starts_nothing() {
    let place = place("never");
    let mut child = start(&place, &[]);
    drop(child.stdin.take());
    let output = child.wait_with_output().expect("the guard ends");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 1);
    std::fs::remove_dir(place).expect("it is empty");
}

#[test]
fn files_that_are_cut_are_refused() {
    let place = place("cut");
    let mut child = start(&place, &["--files"]);
    let mut input = child.stdin.take().expect("stdin is piped");
    let list = json!([{"path": "a/b", "bytes": 10, "executable": false}]);
    writeln!(input, "{list}\nshort").expect("the guard reads");
    drop(input);
    let output = child.wait_with_output().expect("the guard ends");
    assert_eq!(output.status.code(), Some(1));
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(words.contains("\"a/b\" did not arrive whole"), "{words}");
    std::fs::remove_dir(place).expect("it is empty");
}

#[test]
fn only_verbs_that_read_requests_can_be_guarded() {
    for verb in [&["worker"][..], &["guard"], &[]] {
        let output = agent("guard").args(verb).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2));
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(words.contains("run or endpoint"), "{words}");
    }
}
