//! Starts the agent with a mark in its environment, by which everything that it started is found.

use serde_json::{json, Value};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

pub const AGENT: &str = env!("CARGO_BIN_EXE_pentathlon-agent");

/// One run of the agent in a scratch directory of its own.
pub struct Run {
    child: Child,
    mark: String,
    scratch: PathBuf,
}

impl Run {
    /// Starts the agent on `workloads`.
    pub fn start(workloads: &Value) -> Self {
        Self::start_by(&[], workloads)
    }

    /// The same, with the agent started by another program: its name and arguments.
    pub fn start_by(starter: &[&str], workloads: &Value) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let mark = format!("PENTATHLON_MARK=run-{}-{number}", std::process::id());
        let scratch = std::env::temp_dir().join(mark.replace('=', "-"));
        std::fs::create_dir(&scratch).expect("a new directory");
        let line: Vec<_> = starter
            .iter()
            .map(|part| part.replace("SCRATCH", scratch.to_str().expect("text")))
            .chain([AGENT.into(), "run".into()])
            .collect();
        let (name, value) = mark.split_once('=').expect("made above");
        let mut child = Command::new(&line[0])
            .args(&line[1..])
            .env(name, value)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the agent starts");
        let request = json!({"protocol": 2, "scratch": scratch, "workloads": workloads});
        let mut input = child.stdin.take().expect("stdin is piped");
        writeln!(input, "{request}").expect("the agent reads");
        Self {
            child,
            mark,
            scratch,
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The directory that the agent was given.
    pub fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// The next event, and those after it.
    pub fn events(&mut self) -> impl Iterator<Item = Value> {
        let output = self.child.stdout.take().expect("asked for once");
        BufReader::new(output)
            .lines()
            .map(|line| serde_json::from_str(&line.expect("text")).expect("every line is JSON"))
    }

    /// All events, after which nothing that was started is left, neither process nor file.
    pub fn finish(mut self) -> Vec<Value> {
        let events = self.events().collect();
        self.child.wait().expect("the agent ends");
        self.assert_no_process_is_left();
        let left: Vec<_> = std::fs::read_dir(&self.scratch)
            .expect("the directory is there")
            .collect();
        assert!(left.is_empty(), "{left:?}");
        events
    }

    /// The processes that this run started and that still live.
    pub fn processes(&self) -> Vec<u32> {
        std::fs::read_dir("/proc")
            .expect("/proc is there")
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter(|pid| {
                std::fs::read(format!("/proc/{pid}/environ"))
                    .is_ok_and(|all| all.split(|&b| b == 0).any(|v| v == self.mark.as_bytes()))
            })
            .collect()
    }

    /// The worker: the child of the agent.
    pub fn worker(&self) -> u32 {
        self.wait_for("a worker", || {
            self.processes()
                .into_iter()
                .find(|&pid| parent_of(pid) == Some(self.pid()))
        })
    }

    pub fn assert_no_process_is_left(&self) {
        self.wait_for("the end of every process", || {
            self.processes().is_empty().then_some(())
        });
    }

    pub fn wait_for<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(
                Instant::now() < deadline,
                "waited in vain for {what}; left are\n{}",
                self.processes()
                    .into_iter()
                    .map(state_of)
                    .collect::<String>()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends the agent without a chance to clean up.
    pub fn kill_supervisor(&mut self) {
        self.child.kill().expect("it lives");
        self.child.wait().expect("it ended");
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
        for pid in self.processes() {
            kill(pid);
        }
        std::fs::remove_dir_all(&self.scratch).ok();
    }
}

/// Ends a process as `kill -9` does.
pub fn kill(pid: u32) {
    Command::new("kill")
        .args(["-9", &pid.to_string()])
        .stderr(Stdio::null())
        .status()
        .ok();
}

pub fn parent_of(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("PPid:"))?;
    line.trim().parse().ok()
}

/// What a process that should have ended is and waits for, for the message of a failed test.
fn state_of(pid: u32) -> String {
    let read = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}"));
    let status = read("status").unwrap_or_default();
    let fields: String = ["Name", "State", "PPid", "SigPnd", "ShdPnd"]
        .into_iter()
        .filter_map(|name| status.lines().find(|line| line.starts_with(name)))
        .map(|line| line.replace('\t', " ") + ", ")
        .collect();
    let waits_in = read("wchan").unwrap_or_default();
    let stack = read("stack").unwrap_or_default();
    format!("{pid}: {fields}in {waits_in}\n{stack}")
}

pub fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|e| e["event"] == kind).collect()
}

/// Whether a test that needs root can run; prints a line if it cannot.
pub fn may_act_as_root(test: &str) -> bool {
    let root = std::fs::metadata("/proc/self").is_ok_and(|own| {
        use std::os::unix::fs::MetadataExt;
        own.uid() == 0
    });
    if !root {
        eprintln!("skipped: {test} needs root");
    }
    root
}
