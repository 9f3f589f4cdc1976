//! The inventory: planted systems with known answers, odd and malformed ones, and the real host.

mod known;
mod machines;
mod odd;
mod real;

use serde_json::Value;
use std::path::Path;

/// The sections of the tree, in order.
const SECTIONS: [&str; 19] = [
    "cpu",
    "caches",
    "memory",
    "os",
    "kernel",
    "mitigations",
    "clocksource",
    "virtualization",
    "filesystems",
    "block_devices",
    "network_devices",
    "network",
    "graphics",
    "drivers",
    "firmware",
    "security",
    "power",
    "limits",
    "load",
];

/// Every leaf with its path: `cpu.smt.active`. A refusal is one leaf, and so is an empty list.
fn leaves(tree: &Value) -> Vec<(String, &Value)> {
    fn walk<'a>(path: &str, value: &'a Value, found: &mut Vec<(String, &'a Value)>) {
        match value {
            Value::Object(map) if !map.is_empty() && reason(value).is_none() => {
                for (key, inner) in map {
                    walk(&format!("{path}.{key}"), inner, found);
                }
            }
            Value::Array(list) if !list.is_empty() => {
                for inner in list {
                    walk(&format!("{path}[]"), inner, found);
                }
            }
            _ => found.push((path.trim_start_matches('.').to_owned(), value)),
        }
    }
    let mut found = Vec::new();
    walk("", tree, &mut found);
    found
}

/// The reason of a leaf that the system does not report.
fn reason(value: &Value) -> Option<&str> {
    let map = value.as_object()?;
    match map.len() {
        1 => map.get("unsupported")?.as_str(),
        _ => None,
    }
}

/// What holds for the inventory of any system whatever.
fn check_form(tree: &Value) {
    let sections: Vec<&str> = tree
        .as_object()
        .expect("a tree")
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(sections, SECTIONS);
    for (path, value) in leaves(tree) {
        assert!(!value.is_null(), "{path} is null");
        if let Some(reason) = reason(value) {
            assert!(!reason.is_empty(), "{path} has an empty reason");
            assert!(
                !reason.contains('\n') && !reason.ends_with('.'),
                "{path}: {reason:?}"
            );
        }
    }
}

/// The inventory of planted files on a processor with the CPUID of `machines::cpuid`.
fn collect(tree: &pentathlon_planted::Tree, cpuid: machines::Cpuid) -> Value {
    use pentathlon_inventory::{linux, source::Source};
    let source = Source::planted(tree.path(), move |leaf, subleaf| {
        cpuid.get(&(leaf, subleaf)).copied()
    });
    let inventory = linux::collect(&source, Path::new("/srv/scratch"));
    check_form(&inventory);
    inventory
}
