//! Tasks that a system keeps for idle moments, run now so that they do not run while it is measured.
//!
//! On Windows ProcessIdleTasks (martinovic2012, Sec. 7.4) does it. Linux has no such call: what its
//! systems do by timers is named here one by one.

use super::{unsupported, Answer};
use pentathlon_protocol::IdleTask as Task;
use serde_json::{json, Map, Value};
use std::path::Path;

pub fn run(tasks: &[Task], scratch: &Path) -> Answer {
    let mut reported = Map::new();
    let mut done = 0;
    for task in tasks {
        let name = serde_json::to_value(task).expect("plain data");
        let name = name.as_str().expect("a word").to_owned();
        let value = match attempt(*task, scratch) {
            Ok(what) => {
                done += 1;
                what
            }
            Err(reason) => json!({ "unsupported": reason }),
        };
        reported.insert(name, value);
    }
    let detail = Value::Object(reported);
    if done == 0 {
        let reasons: Vec<String> = detail
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| format!("{name}: {}", value["unsupported"].as_str().unwrap_or("")))
            .collect();
        return Answer {
            detail,
            ..unsupported(reasons.join("; "))
        };
    }
    Answer {
        outcome: "done",
        reason: None,
        detail,
    }
}

#[cfg(target_os = "linux")]
fn attempt(task: Task, scratch: &Path) -> Result<Value, String> {
    match task {
        Task::Sync => {
            pentathlon_os::trim::sync();
            Ok("done".into())
        }
        Task::Fstrim => {
            let bytes = pentathlon_os::trim::trim(scratch)
                .map_err(|error| format!("the file system of the scratch directory: {error}"))?;
            Ok(json!({ "trimmed_bytes": bytes }))
        }
        Task::DropCaches => std::fs::write("/proc/sys/vm/drop_caches", "3")
            .map(|()| "done".into())
            .map_err(|error| format!("/proc/sys/vm/drop_caches: {error}")),
        Task::ProcessIdleTasks => Err("only Windows has ProcessIdleTasks".into()),
    }
}

#[cfg(windows)]
fn attempt(task: Task, _scratch: &Path) -> Result<Value, String> {
    if task != Task::ProcessIdleTasks {
        return Err("only Linux has this task".into());
    }
    // The call has no documented way to be made in the own process; this is the published one.
    let status = std::process::Command::new("rundll32.exe")
        .arg("advapi32.dll,ProcessIdleTasks")
        .status()
        .map_err(|error| format!("rundll32.exe: {error}"))?;
    if status.success() {
        Ok("done".into())
    } else {
        Err(format!("rundll32.exe ended with {status}"))
    }
}

#[cfg(not(any(target_os = "linux", windows)))]
fn attempt(_task: Task, _scratch: &Path) -> Result<Value, String> {
    Err(format!("not made on {} yet", std::env::consts::OS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_lacks_is_reported_for_each_task() {
        let (own, other) = if cfg!(windows) {
            (Task::ProcessIdleTasks, Task::Sync)
        } else {
            (Task::Sync, Task::ProcessIdleTasks)
        };
        let alone = run(&[other], &std::env::temp_dir());
        assert_eq!(alone.outcome, "unsupported");
        assert!(alone.reason.unwrap().contains("only "));
        let both = run(&[own, other], &std::env::temp_dir());
        assert_eq!(
            both.outcome,
            if cfg!(windows) { both.outcome } else { "done" }
        );
        assert_eq!(both.detail.as_object().unwrap().len(), 2);
    }
}
