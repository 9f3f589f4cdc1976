//! The workloads of memory and arithmetic, run as an experimenter runs them, with their checksums
//! computed a second time here.

mod arithmetic;
mod memory;
mod memory_sets;
mod swap;

use serde_json::{json, Value};
use std::io::Write;
use std::process::{Command, Stdio};

/// All events of a session with these workloads.
fn events(seed: u64, workloads: &Value) -> Vec<Value> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pentathlon-agent"))
        .arg("run")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the agent starts");
    let request = json!({"protocol": 2, "seed": seed, "workloads": workloads});
    let mut input = child.stdin.take().expect("stdin is piped");
    writeln!(input, "{request}").expect("the agent reads");
    let output = child.wait_with_output().expect("the agent ends");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("every line is JSON"))
        .collect()
}

/// One workload with few, short batches.
fn short(id: &str, parameters: Value) -> Value {
    json!({
        "id": id, "parameters": parameters,
        "iterations": 2, "warmup": 0, "sample_ms": 0.2,
    })
}

fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|e| e["event"] == kind).collect()
}

/// The samples of `events`, after a look at what every sample must be.
fn samples(events: &[Value]) -> Vec<&Value> {
    let samples = of_kind(events, "sample");
    for sample in &samples {
        let value = sample["value"].as_f64().expect("a number");
        assert!(value > 0.0 && value.is_finite(), "{sample}");
        assert!(sample["batch"].as_u64().expect("a count") > 0, "{sample}");
    }
    samples
}

/// The only error of a session with one workload: its kind and its sentence.
fn only_error(workload: &Value) -> (String, String) {
    let events = events(0, &json!([workload]));
    let errors = of_kind(&events, "error");
    assert_eq!(errors.len(), 1, "{workload}: {errors:?}");
    let text = |field: &str| errors[0][field].as_str().expect("text").to_owned();
    assert!(!text("reason").contains('\n'), "one sentence: {errors:?}");
    (text("kind"), text("reason"))
}
