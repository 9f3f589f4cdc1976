//! However a run ends, its files are gone.

use super::driver::{of_kind, run, Directory};
use serde_json::json;

#[test]
fn a_killed_worker_leaves_nothing_in_a_directory_that_was_named() {
    let named = Directory::under(&std::env::temp_dir());
    let events = run(&json!([
        {"id": "disk.order", "iterations": 100_000, "timeout_s": 1.0,
         "parameters": {"file_bytes": 1 << 20, "directory": named.path()}},
        {"id": "disk.metadata", "iterations": 1,
         "parameters": {"files": 10, "directory": named.path()}},
    ]));
    let errors = of_kind(&events, "error");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0]["kind"], "timeout");
    let begun = of_kind(&events, "progress");
    assert!(begun
        .iter()
        .any(|p| p["index"] == 0 && p["state"] == "case"));
    assert!(of_kind(&events, "sample").iter().any(|s| s["index"] == 1));
    assert_eq!(named.names(), [""; 0]);
}
