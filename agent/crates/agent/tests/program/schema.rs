//! What the program writes, judged by the schema that it prints.

use super::checker::Checker;
use super::session::{agent, events_of};
use pentathlon_protocol::catalog::Direction;
use pentathlon_protocol::command::Execution;
use pentathlon_protocol::{Case, Delta, Event, HistogramSample, Line, Phase};
use serde_json::{json, Value};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

fn printed(verb: &str) -> Value {
    let output = agent(verb).output().expect("the agent starts");
    assert_eq!(output.status.code(), Some(0));
    serde_json::from_slice(&output.stdout).expect("one document")
}

fn session() -> Vec<Value> {
    events_of(&json!({
        "protocol": 2, "session": "5f", "inventory": true,
        "prepare": [{"do": "idle", "tasks": ["process_idle_tasks"]}],
        "workloads": [
            {"id": "test.spin", "iterations": 2, "sample_ms": 0.2},
            {"id": "no.such"},
        ],
    }))
}

/// Events that no session of a test workload has.
fn others() -> Vec<Value> {
    let histogram = HistogramSample {
        workload: "w",
        index: 0,
        metric: "latency",
        case: Case::new().with("load", "idle").with("size", 4),
        unit: "ns",
        direction: Direction::Lower,
        phase: Phase::Measure,
        process: 0,
        iteration: 0,
        count: 3,
        lowest: 1,
        highest: 9,
        significant_digits: 3,
        buckets: vec![(1, 2), (9, 1)],
        elapsed_ns: 5,
        checksum: "0x5".into(),
        counters: Delta::default(),
    };
    let execution = Execution {
        workload: "my.x",
        index: 0,
        case: Case::new().with("size", 4),
        phase: Phase::Warmup,
        process: 0,
        iteration: 0,
        wall_ns: 5,
        status: -1,
        peak_memory_bytes: None,
        output: "out".into(),
        output_bytes: 3,
        error: String::new(),
        error_bytes: 0,
        counters: Delta::default(),
    };
    [
        Event::Histogram(Box::new(histogram)),
        Event::Execution(Box::new(execution)),
        Event::Counter {
            name: "disk.served".into(),
            value: json!([1, {"a": null}]),
        },
        Event::Picture {
            workload: "w",
            index: 0,
            process: 0,
            case: Case::new(),
            width: 8,
            height: 8,
            jpeg: "/9j/".into(),
        },
        Event::Log {
            level: "info",
            message: "text".into(),
        },
    ]
    .iter()
    .map(|event| json!(Line { event, t_ns: 7 }))
    .collect()
}

fn without(value: &Value, key: &str) -> Value {
    let mut less = value.clone();
    less.as_object_mut().expect("an object").remove(key);
    less
}

#[test]
fn every_event_is_in_the_schema_with_each_field_and_no_other() {
    let checker = Checker::new(&printed("schema"));
    let events: Vec<_> = session().into_iter().chain(others()).collect();
    for event in &events {
        checker.check("Event", event).expect("an event");
        let mut more = event.clone();
        more["made_up"] = json!(1);
        assert!(checker.check("Event", &more).is_err(), "{more}");
        for key in event.as_object().expect("an object").keys() {
            let less = without(event, key);
            assert!(checker.check("Event", &less).is_err(), "without {key}");
        }
        for part in ["agent", "clock", "telemetry", "counters"] {
            if event[part].is_object() {
                let mut more = event.clone();
                more[part]["made_up"] = json!(1);
                assert!(checker.check("Event", &more).is_err(), "{part}.made_up");
            }
        }
    }
    let kinds: BTreeSet<_> = events.iter().filter_map(|e| e["event"].as_str()).collect();
    let expected = [
        "counter",
        "done",
        "error",
        "execution",
        "histogram",
        "inventory",
        "log",
        "picture",
        "progress",
        "sample",
        "step",
    ];
    assert_eq!(kinds, BTreeSet::from(expected));
}

/// An endpoint at work; each answer is judged by the schema.
struct Endpoint {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    checker: Checker,
    seen: Vec<Value>,
}

impl Endpoint {
    fn start() -> Self {
        let mut child = agent("endpoint")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the agent starts");
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let mut endpoint = Self {
            child,
            input: input.expect("a pipe"),
            output: BufReader::new(output.expect("a pipe")),
            checker: Checker::new(&printed("schema")),
            seen: Vec::new(),
        };
        endpoint.answer();
        endpoint
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        let answer: Value = serde_json::from_str(&line).expect("a document");
        self.checker.check("Answer", &answer).expect("an answer");
        if answer["event"] == "records" {
            let bytes = answer["bytes"].as_u64().expect("a count");
            let mut file = self.output.by_ref().take(bytes);
            std::io::copy(&mut file, &mut std::io::sink()).expect("a file");
        }
        self.seen.push(answer.clone());
        answer
    }

    fn command(&mut self, command: &Value) -> Value {
        writeln!(self.input, "{command}").expect("it reads");
        self.answer()
    }
}

#[test]
fn every_answer_is_in_the_schema_with_each_field_and_no_other() {
    let mut end = Endpoint::start();
    let works = [
        json!({"work": "soak", "threads": 2}),
        json!({"work": "watch", "period_ms": 5}),
        json!({"work": "program", "command": ["/bin/echo", "text"]}),
        json!({"work": "compete", "workload": "test.spin"}),
        json!({"work": "probe", "local": "127.0.0.1:0", "peer": "127.0.0.1:9", "mark": 1,
               "send": {"count": 3, "size_bytes": 64, "period_ns": 1000, "after_ns": 0,
                        "answer": true}}),
    ];
    for what in &works {
        end.command(&json!({"do": "start", "job": "j", "what": what}));
        std::thread::sleep(std::time::Duration::from_millis(50));
        let stopped = end.command(&json!({"do": "stop", "job": "j"}));
        assert_eq!(stopped["event"], "stopped", "{what}: {stopped}");
    }
    let echo = json!({"command": ["/bin/sh", "-c", "echo text"]});
    end.command(&json!({"do": "perform", "program": echo, "timeout_s": 60}));
    end.command(&json!({"do": "set", "values": {"net/no_such": "1"}}));
    end.command(&json!({"do": "stop", "job": "none"}));
    let ready = end.command(&json!({
        "do": "listen", "trial": "t", "session": "5f", "address": "127.0.0.1",
        "flows": [{"flow": 1, "protocol": "udp", "address": "127.0.0.1", "port": 0,
                   "role": "echo"}],
    }));
    end.command(&json!({
        "do": "send", "trial": "t", "session": "5f", "quiet_ms": 5,
        "exchange": {"address": "127.0.0.1", "port": ready["exchange_port"]},
        "flows": [{"flow": 1, "protocol": "udp", "peer": "127.0.0.1",
                   "port": ready["flows"][0]["port"],
                   "size": {"model": "constant", "value": 64},
                   "gap": {"of": {"model": "constant", "value": 0.001}},
                   "duration_s": 0.02, "echo": true}],
    }));
    end.command(&json!({"do": "finish", "trial": "t", "quiet_ms": 5}));
    let mut fetched = end.command(&json!({"do": "fetch", "trial": "t"}));
    while fetched["event"] == "records" {
        fetched = end.answer();
    }
    end.command(&json!({"do": "quit"}));
    assert!(end.child.wait().expect("it ends").success());

    let kinds: BTreeSet<_> = end
        .seen
        .iter()
        .filter_map(|e| e["event"].as_str())
        .collect();
    let expected = [
        "done",
        "endpoint",
        "error",
        "fetched",
        "performed",
        "ready",
        "received",
        "records",
        "sent",
        "set",
        "started",
        "stopped",
    ];
    assert_eq!(kinds, BTreeSet::from(expected));
    for answer in &end.seen {
        let mut more = answer.clone();
        more["made_up"] = json!(1);
        assert!(end.checker.check("Answer", &more).is_err(), "{more}");
        for key in answer.as_object().expect("an object").keys() {
            let less = without(answer, key);
            assert!(end.checker.check("Answer", &less).is_err(), "without {key}");
        }
        for place in [
            "/flows/0",
            "/echoes/0",
            "/host",
            "/host/window",
            "/yields/0",
            "/timer",
        ] {
            let mut more = answer.clone();
            let Some(part) = more.pointer_mut(place).filter(|part| part.is_object()) else {
                continue;
            };
            part["made_up"] = json!(1);
            assert!(end.checker.check("Answer", &more).is_err(), "{place}");
        }
    }
}

#[test]
fn a_value_of_another_type_or_another_word_is_refused() {
    let checker = Checker::new(&printed("schema"));
    let events = session();
    let sample = events.iter().find(|e| e["event"] == "sample").unwrap();
    for (key, wrong) in [
        ("event", json!("news")),
        ("phase", json!("pause")),
        ("direction", json!("sideways")),
        ("value", Value::Null),
        ("value", json!("1")),
        ("batch", json!(-1)),
        ("case", json!({"size": [1]})),
        ("counters", json!({})),
        ("t_ns", json!(0.5)),
    ] {
        let mut event = sample.clone();
        event[key] = wrong;
        assert!(checker.check("Event", &event).is_err(), "{event}");
    }
}

#[test]
fn the_catalog_is_in_the_schema_with_each_field_and_no_other() {
    let checker = Checker::new(&printed("schema"));
    let catalog = printed("catalog");
    checker.check("Catalog", &catalog).expect("a catalog");
    let entry = &catalog["workloads"][0];
    for key in entry.as_object().expect("an object").keys() {
        assert!(
            checker.check("Entry", &without(entry, key)).is_err(),
            "without {key}"
        );
    }
    for place in ["/workloads/0", "/workloads/0/metrics/0", "/agent"] {
        let mut more = catalog.clone();
        more.pointer_mut(place).expect("a part")["made_up"] = json!(1);
        assert!(checker.check("Catalog", &more).is_err(), "{place}");
    }
}
