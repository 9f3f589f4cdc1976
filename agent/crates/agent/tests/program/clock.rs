//! The agent where a process may not read the time stamp counter, prctl(2).

use std::process::Command;

/// Runs the agent from a shell of a process that was forbidden it.
#[test]
fn a_process_that_was_forbidden_the_counter_measures_all_the_same() {
    // The library of Python calls prctl(2) for us: this crate has no unsafe code.
    const FORBID: &str = "import ctypes, os, sys\n\
        PR_SET_TSC, PR_TSC_SIGSEGV = 26, 2\n\
        assert ctypes.CDLL(None).prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0\n\
        os.execv(sys.argv[1], sys.argv[1:])\n";
    let output = Command::new("python3")
        .args([
            "-c",
            FORBID,
            env!("CARGO_BIN_EXE_pentathlon-agent"),
            "inventory",
        ])
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: python3 is not here");
        return;
    };
    let reported = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{} {reported}",
        output.status
    );
    assert!(
        reported.contains("was forbidden the time stamp counter"),
        "{reported}"
    );
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(document["clock"]["cost_ns"].as_f64().unwrap() > 0.0);
}
