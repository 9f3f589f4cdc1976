//! What the workloads yield.

use super::driver::{of_kind, Run};
use serde_json::{json, Value};
use std::collections::{BTreeMap, BTreeSet};

fn short(id: &str, parameters: Value) -> Value {
    json!({
        "id": format!("process.{id}"), "parameters": parameters,
        "iterations": 2, "warmup": 0, "sample_ms": 0.5,
    })
}

fn run(workloads: Value) -> Vec<Value> {
    let events = run_all(workloads);
    assert_eq!(of_kind(&events, "error"), Vec::<&Value>::new());
    events
}

fn run_all(workloads: Value) -> Vec<Value> {
    let events = Run::start(&workloads).finish();
    assert_eq!(of_kind(&events, "done").len(), 1);
    events
}

#[test]
fn every_call_is_timed_in_ns_and_proved() {
    let events = run(json!([
        short("getpid", json!({})),
        short("malloc_free", json!({"bytes": [1, 4, 4096, 1 << 20]})),
        short("fopen_fclose", json!({})),
        short("open_close", json!({})),
        short("open_close", json!({"flags": "read_only"})),
        short("create_delete", json!({})),
        short("fork_wait", json!({"resident_bytes": [0, 8 << 20]})),
        short("fork_exec", json!({})),
        short("pipe_round_trip", json!({"bytes": [1, 2, 4096]})),
        short("exec_static", json!({})),
        short("thread", json!({})),
        short("signal", json!({})),
        short("futex", json!({})),
        short("condition", json!({})),
        short("event", json!({})),
        short("mmap_munmap", json!({"bytes": [1, 1 << 20]})),
        short("page_fault", json!({"kind": ["minor"], "pages": [16, 256]})),
    ]));
    let mut measured = BTreeMap::new();
    for sample in of_kind(&events, "sample") {
        assert_eq!(sample["metric"], "time", "{sample}");
        assert_eq!(sample["unit"], "ns", "{sample}");
        assert_eq!(sample["direction"], "lower", "{sample}");
        assert_eq!(sample["checksum"], "0x1", "{sample}");
        assert!(
            sample["value"].as_f64().expect("a number") > 0.0,
            "{sample}"
        );
        if sample["phase"] == "measure" {
            *measured.entry(sample["index"].as_u64()).or_insert(0) += 1;
        }
    }
    let per_workload: Vec<_> = measured.into_values().collect();
    assert_eq!(
        per_workload,
        [2, 8, 2, 2, 2, 4, 4, 2, 6, 4, 2, 6, 2, 2, 2, 16, 4]
    );
}

#[test]
fn the_published_calls_are_timed_at_every_level_asked_for() {
    let levels = json!({"opt_levels": ["3", "0"]});
    let published = [
        "getpid",
        "malloc_free",
        "fopen_fclose",
        "open_close",
        "create_delete",
        "fork_wait",
        "call_styles",
    ];
    let mut requested: Vec<Value> = published.map(|id| short(id, levels.clone())).into();
    let small = json!({"repetitions": [2], "fork_repetitions": [2], "opt_levels": ["3", "0"]});
    requested[6] = short("call_styles", small);
    requested.push(short("getpid", json!({})));
    let events = run(json!(requested));
    let mut found = BTreeMap::<u64, BTreeSet<String>>::new();
    for sample in of_kind(&events, "sample") {
        let index = sample["index"].as_u64().expect("a number");
        let level = sample["case"]["opt_level"].as_str().expect("a level");
        found.entry(index).or_default().insert(level.to_owned());
    }
    let both = BTreeSet::from(["0".to_owned(), "3".to_owned()]);
    for (index, name) in published.iter().enumerate() {
        assert_eq!(found[&(index as u64)], both, "{name}");
    }
    let own = BTreeSet::from(["3".to_owned()]);
    assert_eq!(found[&7], own, "what is measured unasked");
}

#[test]
fn file_workloads_record_the_file_system_they_ran_on() {
    let events = run(json!([
        short("fopen_fclose", json!({})),
        short("open_close", json!({})),
        short("create_delete", json!({})),
        short("fork_exec", json!({})),
    ]));
    let logs: Vec<_> = of_kind(&events, "log")
        .into_iter()
        .filter_map(|e| e["message"].as_str()?.strip_prefix("scratch file system: "))
        .collect();
    assert_eq!(logs.len(), 4, "{logs:?}");
    assert!(
        !logs[0].is_empty() && logs.iter().all(|l| l == &logs[0]),
        "{logs:?}"
    );
}

#[test]
fn a_fault_is_what_the_kernel_counts_as_one() {
    let events = run_all(json!([short("page_fault", json!({}))]));
    for sample in of_kind(&events, "sample") {
        let pages = sample["batch"].as_u64().expect("a number");
        let name = match sample["case"]["kind"].as_str() {
            Some("minor") => "minor_faults",
            _ => "major_faults",
        };
        // The counters are read around the whole round, so they hold these faults and others.
        let faults = sample["counters"][name].as_u64().expect("Linux counts");
        assert!(faults as f64 >= 0.95 * pages as f64, "{sample}");
    }
    let measured = |kind: &str| {
        of_kind(&events, "sample")
            .iter()
            .filter(|s| s["case"]["kind"] == kind && s["phase"] == "measure")
            .count()
    };
    assert_eq!(measured("minor"), 2);
    // Where the scratch directory is memory, or shares the cache of another system, no page comes
    // from a disk.
    let refused = of_kind(&events, "error");
    match measured("major") {
        0 => assert_eq!(refused[0]["kind"], "unsupported", "{refused:?}"),
        count => assert_eq!((count, refused.len()), (2, 0), "{refused:?}"),
    }
}

/// The paper's nested loops, without the array: j + i + j for every j of every i.
fn sum_by_hand(repetitions: u64, size: u64) -> u64 {
    let mut sum = 0;
    for i in 0..repetitions {
        for j in 0..size {
            sum += j + i + j;
        }
    }
    sum
}

#[test]
fn the_four_styles_compute_one_sum_which_is_that_of_the_loops() {
    for size in [1, 37, 1000] {
        let repetitions = [1, 2, 5, 16];
        let events = run(json!([short(
            "call_styles",
            json!({"repetitions": repetitions, "fork_repetitions": repetitions, "size": size}),
        )]));
        let mut found = BTreeMap::<u64, BTreeSet<(String, String)>>::new();
        for sample in of_kind(&events, "sample") {
            let case = &sample["case"];
            let text = |value: &Value| value.as_str().expect("text").to_owned();
            found
                .entry(case["repetitions"].as_u64().expect("a number"))
                .or_default()
                .insert((text(&case["style"]), text(&sample["checksum"])));
        }
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), repetitions);
        for (repetitions, sums) in found {
            let sum = format!("{:#x}", sum_by_hand(repetitions, size));
            let expected = ["fork", "function", "inline", "recursion"]
                .map(|style| (style.to_owned(), sum.clone()));
            assert_eq!(sums, BTreeSet::from(expected), "{repetitions} of {size}");
        }
    }
}

#[test]
fn every_repetition_of_fork_is_a_process() {
    let events = run(json!([short(
        "call_styles",
        json!({"repetitions": [1], "fork_repetitions": [1, 8]}),
    )]));
    let mut checked = 0;
    for sample in of_kind(&events, "sample") {
        let Some(faults) = sample["counters"]["minor_faults"].as_u64() else {
            continue;
        };
        if sample["case"]["style"] == "fork" {
            // After each fork the parent's first write to a page that it shares with its child is
            // a page fault.
            let repetitions = sample["case"]["repetitions"].as_u64().expect("a number");
            let forks = sample["batch"].as_u64().expect("a number") * repetitions;
            assert!(faults >= forks, "{sample}");
            checked += 1;
        }
    }
    assert!(checked >= 4, "{checked}");
}
