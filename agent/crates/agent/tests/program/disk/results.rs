//! What the workloads yield, and what they say about who answered.

use super::driver::{of_kind, one, run, run_in, Directory};
use serde_json::{json, Value};
use std::collections::BTreeSet;
use std::path::Path;

/// Every workload of the area with parameters that take a moment; metrics and cases expected.
fn suite() -> Vec<(&'static str, Value, usize)> {
    let file = 1 << 20;
    vec![
        (
            "disk.access",
            json!({"file_bytes": file, "chunk_bytes": [64, 1000, 4096, file], "limit_s": 0.05,
                   "interface": ["stdio", "stdio_unbuffered", "descriptor", "descriptor_sync",
                                 "mmap"]}),
            3 * 4 * 5,
        ),
        (
            "disk.order",
            json!({"file_bytes": file, "chunk_bytes": [1024, 5000, 65_536], "limit_s": 0.05}),
            3 * 3,
        ),
        (
            "disk.phases",
            json!({"file_bytes": 65_536, "chunk_bytes": [16_384, 65_536]}),
            2 * 2 * 4,
        ),
        (
            "disk.linear",
            json!({"file_bytes": file, "block_bytes": 4096, "method": "cached"}),
            3,
        ),
        (
            "disk.random",
            json!({"file_bytes": file, "block_bytes": 65_536, "method": "cached"}),
            1,
        ),
        (
            "disk.buffered",
            json!({"file_bytes": file, "limit_s": 0.02, "method": "cached"}),
            1,
        ),
        (
            "disk.access_time",
            json!({"file_bytes": file, "limit_s": 0.05, "method": "cached"}),
            1,
        ),
        ("disk.trace", json!({"trace": ["general-usage"]}), 1),
        ("disk.sync", json!({"calls": 3}), 4),
        ("disk.metadata", json!({"files": 50, "directories": 7}), 5),
    ]
}

#[test]
fn every_workload_yields_every_case_with_one_checksum_and_leaves_nothing() {
    for (id, parameters, cases) in suite() {
        let events = run(&one(id, &parameters));
        assert!(of_kind(&events, "error").is_empty(), "{id}: {events:?}");
        let samples = of_kind(&events, "sample");
        assert_eq!(samples.len(), 2 * cases, "{id}");
        let places: BTreeSet<_> = samples
            .iter()
            .map(|s| format!("{}{}{}", s["metric"], s["case"], s["iteration"]))
            .collect();
        assert_eq!(places.len(), samples.len(), "{id}: a place is there twice");
        let checksums: BTreeSet<_> = samples
            .iter()
            .map(|s| s["checksum"].as_str().expect("text"))
            .collect();
        assert_eq!(checksums.len(), 1, "{id}: {checksums:?}");
        for sample in samples {
            assert!(
                sample["value"].as_f64().expect("a number") > 0.0,
                "{sample}"
            );
        }
    }
}

#[test]
fn the_checksum_follows_the_seed_s_content_and_the_size() {
    let checksum = |bytes: u64| {
        let parameters = json!({
            "file_bytes": bytes, "chunk_bytes": [4096], "interface": ["descriptor"],
        });
        let events = run(&one("disk.access", &parameters));
        of_kind(&events, "sample")[0]["checksum"].clone()
    };
    assert_eq!(checksum(65_536), checksum(65_536));
    assert_ne!(checksum(65_536), checksum(131_072));
}

/// Whether the reads of `metric` were said to be answered by `served`, in every round.
fn answered(events: &[Value], metric: &str, served: &str) -> bool {
    let counters = of_kind(events, "counter");
    let mut reads = counters
        .iter()
        .filter(|c| c["name"] == "disk.served")
        .flat_map(|c| c["value"]["reads"].as_array().expect("a list"))
        .filter(|read| read["metric"] == metric)
        .peekable();
    assert!(reads.peek().is_some(), "no read of {metric} was observed");
    reads.all(|read| read["served"] == served)
}

#[test]
fn a_dropped_file_is_read_from_below_and_a_written_one_from_the_cache() {
    let parameters = json!({
        "file_bytes": 1 << 20, "chunk_bytes": [65_536], "interface": ["descriptor"],
    });
    let events = run(&one("disk.access", &parameters));
    let counters = of_kind(&events, "counter");
    let place = counters
        .iter()
        .find(|c| c["name"] == "disk.place")
        .expect("the place is reported");
    if place["value"]["in_memory"] == true {
        eprintln!("skipped: the temporary directory is in memory");
        return;
    }
    assert!(answered(&events, "read_again", "cache"), "{counters:?}");
    assert!(!answered(&events, "read_first", "cache"), "{counters:?}");
}

#[test]
fn files_in_memory_are_answered_by_the_cache_and_have_no_way_past_it() {
    let memory = Path::new("/dev/shm");
    if !memory.is_dir() {
        eprintln!("skipped: no /dev/shm");
        return;
    }
    let parameters = json!({
        "file_bytes": 65_536, "chunk_bytes": [4096], "interface": ["mmap", "direct"],
    });
    let events = run_in(memory, &one("disk.access", &parameters));
    assert!(answered(&events, "read_first", "cache"));
    let errors = of_kind(&events, "error");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0]["kind"], "unsupported");
    assert_eq!(errors[0]["case"]["interface"], "direct");
    assert!(errors[0]["reason"].as_str().unwrap().contains("in memory"));
}

#[test]
fn past_the_cache_the_device_answers_or_the_system_reports_why_not() {
    let parameters = json!({"file_bytes": 1 << 20, "depth": [1, 8], "limit_s": 0.1});
    let events = run(&one("disk.queue", &parameters));
    let errors = of_kind(&events, "error");
    if !errors.is_empty() {
        for error in errors {
            assert_eq!(error["kind"], "unsupported", "{error}");
        }
        eprintln!("skipped: {}", events.last().expect("events"));
        return;
    }
    assert_eq!(of_kind(&events, "sample").len(), 2 * 2 * 2);
    let histograms = of_kind(&events, "histogram");
    assert_eq!(histograms.len(), 2 * 2 * 2);
    for histogram in histograms {
        let buckets = histogram["buckets"].as_array().expect("a list");
        let count: u64 = buckets.iter().map(|b| b[1].as_u64().unwrap()).sum();
        assert_eq!(count, histogram["count"].as_u64().unwrap());
        // Every block of the file at most once.
        assert!((1..=256).contains(&count), "{count}");
    }
    assert!(!answered(&events, "iops", "cache"));
}

#[test]
fn a_recorded_trace_is_replayed_from_its_file_and_from_its_text() {
    let directory = Directory::under(&std::env::temp_dir());
    let path = directory.path().join("mine.trace");
    let text = concat!(
        r#"{"format":"pentathlon-disk-trace","version":1,"name":"mine","files":[10000,null]}"#,
        "\n[0,\"open\",0]\n[5,\"read\",0,3,9997]\n[9,\"create\",1]\n[9,\"write\",1,0,777]\n",
        "[9,\"write\",0,4095,3]\n[9,\"fsync\",0]\n[9,\"close\",0]\n[9,\"stat\",1]\n",
    );
    std::fs::write(&path, text).unwrap();
    let from_file = run(&one("disk.trace", &json!({"trace_file": path})));
    let from_text = run(&one("disk.trace", &json!({"trace_text": text})));
    for events in [&from_file, &from_text] {
        assert!(of_kind(events, "error").is_empty(), "{events:?}");
        let samples = of_kind(events, "sample");
        assert_eq!(samples.len(), 2);
        assert_eq!(samples[0]["case"], json!({"trace": "mine"}));
        assert_eq!(samples[0]["batch"], 8);
    }
    let checksum = |events: &[Value]| of_kind(events, "sample")[0]["checksum"].clone();
    assert_eq!(checksum(&from_file), checksum(&from_text));
}
