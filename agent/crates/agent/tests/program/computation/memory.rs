//! Bandwidth and latency of memory.

use super::{events, of_kind, only_error, samples, short};
use serde_json::{json, Value};
use std::collections::{BTreeMap, BTreeSet};

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

fn checksum(sample: &Value) -> u64 {
    let text = sample["checksum"].as_str().expect("text");
    u64::from_str_radix(text.strip_prefix("0x").expect("hexadecimal"), 16).expect("64 bits")
}

fn bytes(sample: &Value) -> u64 {
    sample["case"]["block_bytes"].as_u64().expect("a size")
}

/// The bandwidth workloads by their block: what they must compute, whatever the instructions.
fn expected(workload: &str, bytes: u64) -> u64 {
    let words = bytes / 8;
    match workload {
        "memory.write" => words.wrapping_mul(0x5bd1_e995_0000_0000),
        _ => (1..=words).fold(0, |all, i| all ^ i.wrapping_mul(GOLDEN)),
    }
}

#[test]
fn every_variant_computes_what_the_block_size_states() {
    let parameters = json!({
        "block_bytes": [1024, 1088, 4096, 196_608, 2_000_000],
        "variants": ["vector", "scalar", "sse2", "avx2", "avx512"],
    });
    let workloads = ["memory.read", "memory.write", "memory.copy"];
    let events = events(1, &json!(workloads.map(|id| short(id, parameters.clone()))));
    let mut cases = BTreeSet::new();
    for sample in samples(&events) {
        let workload = sample["workload"].as_str().expect("text");
        assert_eq!(
            checksum(sample),
            expected(workload, bytes(sample)),
            "{sample}"
        );
        assert_eq!(sample["unit"], "MB/s");
        assert_eq!(sample["direction"], "higher");
        assert_eq!(sample["metric"], "bandwidth");
        // The rate is the bytes of the passes over the time, whose part of a ns is not printed.
        let moved = sample["batch"].as_f64().expect("a count") * bytes(sample) as f64;
        let elapsed = sample["elapsed_ns"].as_f64().expect("a time");
        let value = sample["value"].as_f64().expect("a number");
        let (least, most) = (moved / (elapsed + 1.0) * 1e3, moved / elapsed * 1e3);
        assert!(
            least * 0.999_999 <= value && value <= most * 1.000_001,
            "{value} is not between {least} and {most}"
        );
        cases.insert((workload, sample["case"].to_string()));
    }
    // Instructions that this CPU lacks are unsupported, not left out.
    for error in of_kind(&events, "error") {
        assert_eq!(error["kind"], "unsupported", "{error}");
        let variant = error["case"]["variant"].as_str().expect("text");
        assert!(["sse2", "avx2", "avx512"].contains(&variant), "{error}");
        let workload = error["workload"].as_str().expect("text");
        cases.insert((workload, error["case"].to_string()));
    }
    assert_eq!(cases.len(), 3 * 5 * 5);
    let logs = of_kind(&events, "log");
    for workload in workloads {
        let chosen = format!("{workload}: vector is ");
        assert!(
            logs.iter()
                .any(|log| log["message"].as_str().expect("text").starts_with(&chosen)),
            "{logs:?}"
        );
    }
}

#[test]
fn sizes_are_rounded_up_to_lines_and_measured_once() {
    let events = events(
        1,
        &json!([short(
            "memory.read",
            json!({"block_bytes": [1025, 1088, 1024]})
        )]),
    );
    let sizes: BTreeSet<_> = samples(&events).into_iter().map(bytes).collect();
    assert_eq!(sizes, BTreeSet::from([1024, 1088]));
    let cases = of_kind(&events, "progress");
    let cases = cases.iter().filter(|p| p["state"] == "case").count();
    assert_eq!(cases, 2 * 2, "two sizes, two variants");
}

#[test]
fn a_block_that_does_not_fit_is_unsupported_and_the_others_are_measured() {
    let parameters = json!({"block_bytes": [4096, 1u64 << 40], "variants": ["vector"]});
    for id in ["memory.read", "memory.copy"] {
        let events = events(1, &json!([short(id, parameters.clone())]));
        let errors = of_kind(&events, "error");
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0]["kind"], "unsupported");
        assert_eq!(errors[0]["case"]["block_bytes"], 1u64 << 40);
        assert!(samples(&events).iter().all(|s| bytes(s) == 4096));
        assert!(!samples(&events).is_empty());
    }
}

/// The ring's checksum from its definition: the lines in random order, each followed by the next.
fn ring(lines: u64, seed: u64) -> u64 {
    let mut state = seed ^ lines;
    let mut random = || {
        state = state.wrapping_add(GOLDEN);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let mut order: Vec<u64> = (0..lines).collect();
    for last in (1..lines).rev() {
        let other = (u128::from(random()) * u128::from(last + 1)) >> 64;
        order.swap(last as usize, other as usize);
    }
    (0..lines).fold(0, |sum, place| {
        let next = order[((place + 1) % lines) as usize];
        sum.wrapping_add((place + 1).wrapping_mul(next + 1))
    })
}

#[test]
fn latency_follows_the_ring_of_its_seed() {
    let parameters = json!({"block_bytes": [1024, 4096, 65_536, 1 << 20], "pages": ["base"]});
    let mut seen = BTreeMap::new();
    for seed in [3, 4] {
        let events = events(seed, &json!([short("memory.latency", parameters.clone())]));
        assert!(of_kind(&events, "error").is_empty());
        for sample in samples(&events) {
            assert_eq!(checksum(sample), ring(bytes(sample) / 64, seed), "{sample}");
            assert_eq!(sample["unit"], "ns");
            assert_eq!(sample["direction"], "lower");
            seen.entry(bytes(sample))
                .or_insert_with(BTreeSet::new)
                .insert(checksum(sample));
        }
    }
    assert_eq!(seen.len(), 4);
    assert!(seen.values().all(|checksums| checksums.len() == 2));
}

#[test]
fn a_stride_leaves_lines_out() {
    let parameters = json!({"block_bytes": [8192], "stride_bytes": 200, "pages": ["base"]});
    let events = events(5, &json!([short("memory.latency", parameters)]));
    let samples = samples(&events);
    assert!(!samples.is_empty());
    // 200 B are rounded up to 256.
    assert!(samples.iter().all(|s| checksum(s) == ring(32, 5)));
}

#[test]
fn huge_pages_are_confirmed_or_refused_with_a_reason() {
    let parameters = json!({"block_bytes": [1024, 4 << 20], "pages": ["huge"]});
    let events = events(6, &json!([short("memory.latency", parameters)]));
    let measured: BTreeSet<_> = samples(&events).into_iter().map(bytes).collect();
    let mut refused = BTreeSet::new();
    for error in of_kind(&events, "error") {
        assert_eq!(error["kind"], "unsupported", "{error}");
        assert!(error["reason"].as_str().expect("text").contains("huge"));
        refused.insert(error["case"]["block_bytes"].as_u64().expect("a size"));
    }
    assert!(measured.is_disjoint(&refused));
    assert_eq!(measured.len() + refused.len(), 2);
}

#[test]
fn a_block_without_two_lines_is_unsupported() {
    let parameters = json!({"block_bytes": [1024], "stride_bytes": 1024, "pages": ["base"]});
    let (kind, reason) = only_error(&short("memory.latency", parameters));
    assert_eq!(kind, "unsupported");
    assert!(reason.contains("every 1024 B"), "{reason}");
}

#[test]
fn wrong_parameters_get_one_clear_sentence() {
    for (id, parameters, part) in [
        (
            "memory.read",
            json!({"block_bytes": [1000]}),
            "at least 1024 B",
        ),
        (
            "memory.write",
            json!({"block_bytes": []}),
            "at least one value",
        ),
        (
            "memory.copy",
            json!({"block_bytes": ["1k"]}),
            "whole number",
        ),
        (
            "memory.read",
            json!({"variants": ["mmx"]}),
            "one of: vector, scalar",
        ),
        (
            "memory.read",
            json!({"pages": ["base"]}),
            "known are: block_bytes, variants",
        ),
        (
            "memory.latency",
            json!({"pages": ["large"]}),
            "one of: base, huge",
        ),
        (
            "memory.latency",
            json!({"stride_bytes": 8}),
            "at least 64 B",
        ),
    ] {
        let (kind, reason) = only_error(&short(id, parameters));
        assert_eq!(kind, "request", "{reason}");
        assert!(reason.contains(part), "{reason}");
    }
}
