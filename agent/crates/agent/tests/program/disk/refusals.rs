//! What is not done, and how that is said.

use super::driver::{one, refusal, run, Directory};
use serde_json::json;

#[test]
fn a_device_that_is_not_named_twice_is_not_touched() {
    for (device, again) in [
        ("/dev/null-device", ""),
        ("", "/dev/null-device"),
        ("/dev/null-device", "/dev/other"),
    ] {
        let parameters = json!({"device": device, "device_again": again});
        let (kind, reason) = refusal(&run(&one("disk.linear", &parameters)));
        assert_eq!(kind, "failed");
        assert!(
            reason.contains("only read if both name the same one"),
            "{reason}"
        );
    }
}

#[test]
fn what_is_no_block_device_is_refused_as_one() {
    let directory = Directory::under(&std::env::temp_dir());
    let file = directory.path().join("file");
    std::fs::write(&file, b"not a device").unwrap();
    let parameters = json!({"device": file, "device_again": file});
    let (_, reason) = refusal(&run(&one("disk.random", &parameters)));
    assert!(reason.contains("must be a block device"), "{reason}");
    assert_eq!(std::fs::read(&file).unwrap(), b"not a device");
}

#[test]
fn a_file_that_does_not_fit_is_refused_before_anything_is_written() {
    for id in ["disk.access", "disk.order", "disk.linear", "disk.queue"] {
        let parameters = json!({"file_bytes": 17_592_186_044_416u64});
        let (kind, reason) = refusal(&run(&one(id, &parameters)));
        assert_eq!(kind, "unsupported", "{id}");
        assert!(
            reason.contains("17592186044416 B are to be written"),
            "{reason}"
        );
    }
}

#[test]
fn wrong_sizes_and_directories_are_named() {
    for (id, parameters, expected) in [
        (
            "disk.access",
            json!({"file_bytes": 65_536, "chunk_bytes": [65_537]}),
            "does not fit into a file of 65536 B",
        ),
        (
            "disk.queue",
            json!({"block_bytes": 5000}),
            "multiple of 4096",
        ),
        ("disk.sync", json!({"directory": "here"}), "absolute path"),
        (
            "disk.trace",
            json!({"trace_text": "x"}),
            "line 1 of the trace",
        ),
        (
            "disk.trace",
            json!({"trace_file": "/no/such/trace"}),
            "cannot be read",
        ),
    ] {
        let (_, reason) = refusal(&run(&one(id, &parameters)));
        assert!(reason.contains(expected), "{id}: {reason}");
    }
}
