//! A worker in the background: one process of one workload, for an endpoint.

use super::{supervisor, Assignment};
use pentathlon_os::process::Group;
use pentathlon_protocol::{Calibration, Placement, Task};
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::Child;
use std::thread::JoinHandle;

/// A process that runs one workload once; it is ended when this is dropped.
pub struct Worker {
    child: Child,
    group: Group,
    lines: Option<JoinHandle<Vec<String>>>,
    task: Task,
    scratch: std::path::PathBuf,
}

impl Worker {
    pub fn start(
        task: &Task,
        placement: &Placement,
        calibration: &Calibration,
        epoch_ns: u64,
        scratch: &Path,
        process: u32,
    ) -> io::Result<Self> {
        std::fs::create_dir_all(scratch)?;
        let (mut child, group) = supervisor::spawn(&Assignment {
            sources: crate::build::this().sources.into(),
            epoch_ns,
            seed: 0,
            scratch: scratch.to_path_buf(),
            files: None,
            placement: placement.clone(),
            calibration: calibration.clone(),
            index: 0,
            count: 1,
            process,
            gate: None,
            task: task.clone(),
        })?;
        let output = child.stdout.take().expect("stdout is piped");
        let lines = std::thread::spawn(move || {
            BufReader::new(output)
                .lines()
                .map_while(Result::ok)
                .collect()
        });
        Ok(Self {
            child,
            group,
            lines: Some(lines),
            task: task.clone(),
            scratch: scratch.to_path_buf(),
        })
    }

    /// Whether it has written everything.
    pub fn ended(&self) -> bool {
        self.lines.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Ends it, with everything that it started; the lines that it wrote.
    pub fn finish(&mut self) -> Vec<String> {
        let Some(lines) = self.lines.take() else {
            return Vec::new();
        };
        // The leader has not been waited for, so the group is still its own.
        self.group.kill();
        self.child.wait().ok();
        pentathlon_harness::clear(&self.scratch);
        supervisor::remove_named(&self.task, &self.scratch);
        lines.join().unwrap_or_default()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.finish();
    }
}
