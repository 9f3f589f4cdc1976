//! The memory suites: blocks, levels, faults, regions, code and loops.

use super::{events, of_kind, only_error, samples, short, swap};
use serde_json::{json, Value};
use std::collections::BTreeSet;

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

fn pattern(bytes: u64) -> String {
    let all = (1..=bytes / 8).fold(0, |all, i: u64| all ^ i.wrapping_mul(GOLDEN));
    format!("{all:#x}")
}

fn written(bytes: u64) -> String {
    format!("{:#x}", (bytes / 8).wrapping_mul(0x5bd1_e995_0000_0000))
}

/// Metric and case of every sample.
fn cases(samples: &[&Value]) -> BTreeSet<String> {
    let name = |s: &&Value| format!("{} {}", s["metric"], s["case"]);
    samples.iter().map(name).collect()
}

#[test]
fn blocks_are_measured_with_one_and_with_all_threads() {
    let parameters = json!({"block_bytes": [4096, 196_608]});
    let events = events(9, &json!([short("memory.blocks", parameters)]));
    assert!(of_kind(&events, "error").is_empty(), "{events:?}");
    let samples = samples(&events);
    assert_eq!(cases(&samples).len(), 2 * 2 * 4);
    for sample in samples {
        let bytes = sample["case"]["block_bytes"].as_u64().expect("a size");
        let expected = match sample["metric"].as_str().expect("text") {
            "write" => written(bytes),
            _ => pattern(bytes),
        };
        assert_eq!(sample["checksum"], expected, "{sample}");
        let random = sample["metric"] == "random";
        let unit = if random { "Maccesses/s" } else { "MB/s" };
        assert_eq!(sample["unit"], unit);
    }
}

#[test]
fn every_level_is_measured_or_refused_with_a_reason() {
    let parameters = json!({"memory_bytes_most": 1 << 20});
    let events = events(9, &json!([short("memory.levels", parameters)]));
    let measured = cases(&samples(&events));
    let errors = of_kind(&events, "error");
    for error in &errors {
        assert_eq!(error["kind"], "unsupported", "{error}");
    }
    let refused: BTreeSet<String> = errors.iter().map(|e| e["case"].to_string()).collect();
    if refused.len() == 1 && refused.contains("null") {
        return; // the processor reports no cache
    }
    // A mebibyte is not beyond a last cache of a mebibyte.
    assert!(
        refused.iter().any(|case| case.contains("memory")),
        "{refused:?}"
    );
    assert!(
        measured.iter().any(|case| case.contains("L1")),
        "{measured:?}"
    );
    // Of every level and number of threads all four, or the reason.
    for metric in ["read", "write", "copy", "latency"] {
        let own = measured
            .iter()
            .filter(|case| case.starts_with(&format!("\"{metric}\"")));
        assert_eq!(own.count() + refused.len(), 4 * 2, "{metric}");
    }
}

#[test]
fn faults_and_memory_after_boot_come_from_the_system() {
    let faults = short(
        "memory.faults",
        json!({"block_bytes": [4096], "window_ms": 1}),
    );
    let boot = short("memory.after_boot", json!({}));
    let events = events(9, &json!([faults, boot]));
    let values = of_kind(&events, "sample");
    let metrics: BTreeSet<_> = values.iter().map(|s| s["metric"].to_string()).collect();
    let errors = of_kind(&events, "error");
    assert!(!errors.is_empty() && errors.iter().all(|e| e["kind"] == "unsupported"));
    if metrics.contains("\"page_faults\"") {
        assert!(metrics.contains("\"page_reads\""));
        assert!(!metrics.contains("\"cache_faults\""));
        assert!(errors[0]["reason"]
            .as_str()
            .expect("text")
            .starts_with("cache_faults"));
    }
    if cfg!(target_os = "linux") {
        let of =
            |name: &str| values.iter().find(|s| s["metric"] == name).unwrap()["value"].as_f64();
        assert!(of("used") <= of("visible"));
    }
}

#[test]
fn regions_read_and_write_up_to_the_cap() {
    let parameters = json!({"largest_bytes": 8192, "steps_per_octave": 2});
    let events = events(9, &json!([short("memory.regions", parameters)]));
    assert!(of_kind(&events, "error").is_empty(), "{events:?}");
    let samples = samples(&events);
    assert_eq!(cases(&samples).len(), 7 * 2);
    for sample in samples {
        let bytes = sample["case"]["block_bytes"].as_u64().expect("a size");
        let expected = if sample["metric"] == "read" {
            pattern(bytes)
        } else {
            written(bytes)
        };
        assert_eq!(sample["checksum"], expected, "{sample}");
    }
}

#[test]
fn swap_is_measured_in_a_group_or_refused_and_nothing_is_left() {
    const LIMIT: u64 = 32 << 20;
    let (before, deserted) = (swap::total_kib(), swap::deserted());
    if before == 0 {
        let (kind, reason) = only_error(&short("memory.regions", json!({"swap": true})));
        assert_eq!(kind, "unsupported");
        assert!(reason.contains("no swap space"), "{reason}");
    }
    // Three times the limit: the workload takes twice that, and other programs' pages may come too.
    let space = match swap::Space::take(3 * LIMIT) {
        Ok(space) => space,
        Err(reason) => return eprintln!("skipped: {reason}"),
    };
    let requested = json!({
        "swap": true, "swap_limit_bytes": LIMIT, "smallest_bytes": LIMIT / 4,
        "largest_bytes": 2 * LIMIT,
    });
    let workloads = json!([short("memory.regions", requested)]);
    // Beside much other input and output the kernel may give up reclaiming the group's memory although
    // the swap space is nearly empty, and end the worker.
    let killed = |event: &Value| {
        let reason = event["reason"].as_str().unwrap_or_default();
        event["event"] == "error" && reason.ends_with("signal: 9 (SIGKILL)")
    };
    let events = (0..3)
        .map(|_| events(9, &workloads))
        .find(|events| !events.iter().any(killed));
    drop(space);
    assert_eq!(swap::total_kib(), before, "the swap space is gone");
    let left: Vec<_> = swap::deserted().difference(&deserted).cloned().collect();
    assert_eq!(
        left,
        [""; 0].map(std::path::PathBuf::from),
        "no group is left"
    );
    let Some(events) = events else {
        return eprintln!("skipped: the kernel ended the worker in its group three times");
    };
    let errors = of_kind(&events, "error");
    if !errors.is_empty() && errors.iter().all(|e| e["kind"] == "unsupported") {
        return eprintln!("skipped: {}", errors[0]["reason"]);
    }
    assert!(errors.is_empty(), "{errors:?}");
    let samples = samples(&events);
    assert_eq!(cases(&samples).len(), 4 * 2);
    // Twice what the group may hold came back from the swap space as it was written.
    for sample in samples {
        let bytes = sample["case"]["block_bytes"].as_u64().expect("a size");
        let expected = match sample["metric"].as_str().expect("text") {
            "read" => pattern(bytes),
            _ => written(bytes),
        };
        assert_eq!(sample["checksum"], expected, "{sample}");
    }
}

#[test]
fn code_of_one_size_has_one_result_per_number_of_functions() {
    let parameters = json!({"code_bytes": [4096, 36_864], "follow_cache": false});
    let events = events(9, &json!([short("memory.code_size", parameters)]));
    assert!(of_kind(&events, "error").is_empty(), "{events:?}");
    let samples = samples(&events);
    assert_eq!(cases(&samples).len(), 2 * 4);
    let of = |level: &str| -> BTreeSet<String> {
        let own = samples.iter().filter(|s| s["case"]["opt_level"] == level);
        own.map(|s| s["checksum"].to_string()).collect()
    };
    for level in ["0", "1", "2", "3"] {
        assert_eq!(of(level).len(), 2, "one result per size");
    }
    // Optimised code has the same size at every level here, so the same functions fit.
    if cfg!(target_arch = "x86_64") {
        assert_eq!(of("2"), of("3"));
    }
}

/// 1024 KiB and more is more than was compiled, so the rest is copies.
#[test]
fn code_and_data_go_on_beyond_the_second_cache() {
    let workloads = json!([
        short(
            "memory.code_size",
            json!({"code_bytes": [2 << 20], "opt_levels": ["0", "3"]})
        ),
        short(
            "memory.code_plus_data",
            json!({"block_bytes": [4096], "opt_levels": ["3"]})
        ),
    ]);
    let events = events(9, &workloads);
    let logs: Vec<_> = of_kind(&events, "log")
        .into_iter()
        .filter_map(|log| {
            let text = log["message"].as_str()?;
            let rest = text.split_once("the second cache, ")?.1;
            rest.split(' ').next()?.parse::<u64>().ok()
        })
        .collect();
    let sizes = |factor: &str, level: &str| -> BTreeSet<u64> {
        samples(&events)
            .iter()
            .filter(|sample| sample["case"]["opt_level"] == level)
            .filter_map(|sample| sample["case"][factor].as_u64())
            .collect()
    };
    if cfg!(target_arch = "x86_64") {
        assert!(of_kind(&events, "error").is_empty(), "{events:?}");
        for level in ["0", "3"] {
            assert!(
                sizes("code_bytes", level).contains(&(2 << 20)),
                "level {level}"
            );
        }
        assert_eq!(sizes("code_bytes", "0"), sizes("code_bytes", "3"));
    }
    // A processor that reports no second cache is followed nowhere.
    for cache in &logs {
        assert!(sizes("code_bytes", "3").contains(&(2 * cache)));
        assert!(sizes("block_bytes", "3").contains(&(2 * cache)));
        assert!(sizes("block_bytes", "3").len() >= 10);
    }
}

#[test]
fn code_plus_data_adds_up_at_every_level() {
    let parameters = json!({"block_bytes": [4096, 12_288], "follow_cache": false});
    let events = events(9, &json!([short("memory.code_plus_data", parameters)]));
    assert!(of_kind(&events, "error").is_empty(), "{events:?}");
    let samples = samples(&events);
    assert_eq!(cases(&samples).len(), 2 * 4 * 2);
    for sample in samples {
        let count = sample["case"]["block_bytes"].as_u64().expect("a size") / 4;
        assert_eq!(
            sample["checksum"],
            format!("{:#x}", count * (count - 1) / 2)
        );
    }
}

#[test]
fn every_piece_of_an_array_is_written_and_odd_pieces_are_refused() {
    let parameters = json!({
        "total_bytes": [65_536], "piece_bytes": [1024, 3072, 65_536, 131_072], "passes": 3,
    });
    let events = events(9, &json!([short("memory.sub_looping", parameters)]));
    let errors = of_kind(&events, "error");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0]["kind"], "unsupported");
    assert_eq!(errors[0]["case"]["piece_bytes"], 3072);
    let samples = samples(&events);
    assert_eq!(
        cases(&samples).len(),
        2,
        "a piece larger than the array is left out"
    );
    for sample in samples {
        let piece = sample["case"]["piece_bytes"].as_u64().expect("a size") / 4;
        let sum = (16_384 / piece) * (0..piece).map(|j| j + 2).sum::<u64>();
        assert_eq!(sample["checksum"], format!("{sum:#x}"));
    }
}
