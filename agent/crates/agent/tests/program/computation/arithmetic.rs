//! Arithmetic operations.

use super::{events, of_kind, only_error, samples, short};
use serde_json::{json, Value};
use std::collections::{BTreeMap, BTreeSet};

fn checksums(events: &[Value]) -> BTreeMap<(String, String), BTreeSet<String>> {
    let mut checksums = BTreeMap::new();
    for sample in samples(events) {
        let metric = sample["metric"].as_str().expect("text").to_owned();
        checksums
            .entry((sample["case"].to_string(), metric))
            .or_insert_with(BTreeSet::new)
            .insert(sample["checksum"].as_str().expect("text").to_owned());
    }
    checksums
}

#[test]
fn every_operation_on_every_type_is_measured_both_ways() {
    let events = events(1, &json!([short("arithmetic.operations", json!({}))]));
    assert!(of_kind(&events, "error").is_empty());
    let checksums = checksums(&events);
    assert_eq!(checksums.len(), 4 * 4 * 2);
    // One checksum a case, whatever the batch, and of no other case.
    assert!(checksums.values().all(|seen| seen.len() == 1));
    let all: BTreeSet<_> = checksums.values().flatten().collect();
    assert_eq!(all.len(), 4 * 4 * 2);
    for sample in samples(&events) {
        let (unit, direction) = match sample["metric"].as_str() {
            Some("throughput") => ("Mops/s", "higher"),
            _ => ("ns", "lower"),
        };
        assert_eq!(sample["unit"], unit);
        assert_eq!(sample["direction"], direction);
    }
}

#[test]
fn the_published_loop_is_measured_with_and_without_optimisation() {
    let events = events(1, &json!([short("arithmetic.loop", json!({}))]));
    assert!(of_kind(&events, "error").is_empty(), "{events:?}");
    let mut checksums = BTreeMap::new();
    for sample in samples(&events) {
        assert_eq!(
            (&sample["unit"], &sample["direction"]),
            (&json!("Mops/s"), &json!("higher"))
        );
        let case = &sample["case"];
        let operation = (case["operation"].to_string(), case["type"].to_string());
        let (levels, sums): &mut (BTreeSet<_>, BTreeSet<_>) =
            checksums.entry(operation).or_default();
        levels.insert(case["opt_level"].as_str().expect("text").to_owned());
        sums.insert(sample["checksum"].to_string());
    }
    assert_eq!(checksums.len(), 4 * 4);
    for (operation, (levels, sums)) in checksums {
        assert!(levels.iter().eq(["0", "3"]), "{operation:?}");
        assert_eq!(sums.len(), 1, "both levels compute the same: {operation:?}");
    }
}

#[test]
fn checksums_depend_neither_on_the_seed_nor_on_the_length_of_a_batch() {
    let parameters = json!({"types": ["f32"]});
    let one = events(
        1,
        &json!([short("arithmetic.operations", parameters.clone())]),
    );
    let mut long = short("arithmetic.operations", parameters);
    long["sample_ms"] = json!(1.0);
    let two = events(2, &json!([long]));
    assert_eq!(checksums(&one), checksums(&two));
}

#[test]
fn what_is_asked_for_is_measured_in_the_catalogs_order() {
    let parameters = json!({"operations": ["divide", "add", "add"], "types": ["i64"]});
    let events = events(1, &json!([short("arithmetic.operations", parameters)]));
    let mut order = Vec::new();
    for sample in samples(&events) {
        assert_eq!(sample["case"]["type"], "i64");
        let operation = sample["case"]["operation"].as_str().expect("text");
        if order.last() != Some(&operation) {
            order.push(operation);
        }
    }
    assert_eq!(order, ["add", "divide"]);
}

#[test]
fn wrong_parameters_get_one_clear_sentence() {
    for (parameters, part) in [
        (json!({"types": ["i16"]}), "one of: i32, i64, f32, f64"),
        (json!({"operations": ["modulo"]}), "one of: add, subtract"),
        (json!({"operations": "add"}), "must be a list"),
    ] {
        let (kind, reason) = only_error(&short("arithmetic.operations", parameters));
        assert_eq!(kind, "request", "{reason}");
        assert!(reason.contains(part), "{reason}");
    }
}
