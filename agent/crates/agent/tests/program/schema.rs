//! What the program writes, judged by the schema that it prints.

use super::checker::Checker;
use super::session::{agent, events_of};
use pentathlon_protocol::catalog::Direction;
use pentathlon_protocol::command::Execution;
use pentathlon_protocol::{Case, Delta, Event, HistogramSample, Line, Phase};
use serde_json::{json, Value};
use std::collections::BTreeSet;

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
