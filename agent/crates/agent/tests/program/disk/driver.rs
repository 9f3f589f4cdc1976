//! Runs the agent on workloads in a directory of its own, which must be empty again afterwards.

use serde_json::{json, Value};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A new directory under `parent`, removed when dropped.
pub struct Directory(PathBuf);

impl Directory {
    pub fn under(parent: &Path) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!(
            "pentathlon-disk-test-{}-{number}",
            std::process::id()
        ));
        std::fs::create_dir(&path).expect("a new directory");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("the directory is there");
        entries
            .map(|entry| {
                entry
                    .expect("readable")
                    .file_name()
                    .to_string_lossy()
                    .into()
            })
            .collect()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// All events of one run of `workloads` with its files under `parent`; nothing may be left there.
pub fn run_in(parent: &Path, workloads: &Value) -> Vec<Value> {
    let scratch = Directory::under(parent);
    let mut child = Command::new(env!("CARGO_BIN_EXE_pentathlon-agent"))
        .arg("run")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the agent starts");
    let request = json!({
        "protocol": 2, "seed": 3, "scratch": scratch.path(), "workloads": workloads,
    });
    let mut input = child.stdin.take().expect("stdin is piped");
    writeln!(input, "{request}").expect("the agent reads");
    let output = child.wait_with_output().expect("the agent ends");
    assert!(output.status.success());
    assert_eq!(scratch.names(), [""; 0], "nothing is left");
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("every line is JSON"))
        .collect()
}

pub fn run(workloads: &Value) -> Vec<Value> {
    run_in(&std::env::temp_dir(), workloads)
}

/// One workload, once, without warm-up.
pub fn one(id: &str, parameters: &Value) -> Value {
    json!([{"id": id, "iterations": 2, "warmup": 0, "parameters": parameters, "timeout_s": 60}])
}

pub fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|e| e["event"] == kind).collect()
}

/// The only error of a run that yields nothing else.
pub fn refusal(events: &[Value]) -> (String, String) {
    assert!(of_kind(events, "sample").is_empty(), "{events:?}");
    let errors = of_kind(events, "error");
    assert_eq!(errors.len(), 1, "{errors:?}");
    let text = |key: &str| errors[0][key].as_str().expect("text").to_owned();
    (text("kind"), text("reason"))
}
