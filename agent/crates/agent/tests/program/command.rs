//! Commands of the user's own, as an experimenter requests them.

use super::session::events_of;
use serde_json::{json, Value};

fn request(command: &[&str], more: &Value) -> Value {
    let mut own = json!({
        "cases": [{"case": {"size": 4, "share": 0.5, "mode": "x"}, "command": command}],
        "timeout_s": 20.0, "largest_file_bytes": 1 << 20,
    });
    for (name, value) in more.as_object().expect("an object") {
        own[name] = value.clone();
    }
    json!({
        "protocol": 2,
        "workloads": [{"id": "my.x", "iterations": 2, "warmup": 1, "command": own}],
    })
}

fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events
        .iter()
        .filter(|event| event["event"] == kind)
        .collect()
}

#[test]
fn each_run_is_one_event_and_they_are_counted() {
    let events = events_of(&request(
        &["sh", "-c", "echo out; echo err >&2"],
        &json!({}),
    ));
    let runs = of_kind(&events, "execution");
    let places: Vec<_> = runs
        .iter()
        .map(|run| {
            (
                run["phase"].as_str().unwrap(),
                run["iteration"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(places, [("warmup", 0), ("measure", 0), ("measure", 1)]);
    for run in &runs {
        assert_eq!(run["case"], json!({"size": 4, "share": 0.5, "mode": "x"}));
        assert_eq!(
            (&run["output"], &run["error"]),
            (&json!("out\n"), &json!("err\n"))
        );
        assert!(run["wall_ns"].as_u64().unwrap() > 0);
        assert_eq!(run["counters"]["cycles"], Value::Null);
    }
    assert_eq!(events.last().unwrap()["samples"], 3);
    assert_eq!(events.last().unwrap()["errors"], 0);
}

#[test]
fn the_first_failure_ends_the_case_and_names_the_last_lines() {
    let events = events_of(&request(
        &["sh", "-c", "printf 'a\\033b\\n'; exit 7"],
        &json!({}),
    ));
    assert!(of_kind(&events, "execution").is_empty());
    let [error] = of_kind(&events, "error")[..] else {
        panic!("{events:?}")
    };
    assert_eq!(error["kind"], "failed");
    let reason = error["reason"].as_str().unwrap();
    assert!(
        reason.contains("ended with the exit status 7; its last lines: a\\u{1b}b"),
        "{reason}"
    );
}

#[test]
fn a_program_that_never_ends_is_a_timeout() {
    let events = events_of(&request(&["sleep", "77"], &json!({"timeout_s": 0.2})));
    let [error] = of_kind(&events, "error")[..] else {
        panic!("{events:?}")
    };
    assert_eq!(error["kind"], "timeout");
}

#[test]
fn the_words_of_a_command_are_shown_on_one_line_and_bounded() {
    let long = "x".repeat(5000);
    let events = events_of(&request(&["false", "a\nb", &long], &json!({})));
    let reason = of_kind(&events, "error")[0]["reason"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        reason.starts_with("the command \"false a\\nb xxx"),
        "{reason}"
    );
    assert!(reason.len() < 1000);
}
