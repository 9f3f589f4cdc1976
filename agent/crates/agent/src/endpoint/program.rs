//! Other programs on the host: a server in the background, or a client that runs to its end.

use super::answer::{Answer, Ended, Yield};
use pentathlon_harness::clock::monotonic_ns;
use pentathlon_os::process::{has_ended, own_group, Group};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Bytes that are kept of the end of what a program prints.
const TAIL_BYTES: usize = 16 << 10;
/// How often a running program is looked at.
const LOOK: Duration = Duration::from_millis(2);

/// What is to run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Added to the environment.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Where it runs.
    #[serde(default)]
    pub directory: Option<String>,
    /// What it reads from its standard input.
    #[serde(default)]
    pub input: String,
}

/// A started program; ended with everything that it started when dropped.
struct Running {
    child: Child,
    group: Group,
    stated: Option<[JoinHandle<Vec<u8>>; 2]>,
}

impl Running {
    fn start(program: &Program) -> Result<Self, String> {
        let (first, arguments) = program
            .command
            .split_first()
            .ok_or("the command is empty; name a program")?;
        let mut command = Command::new(first);
        command
            .args(arguments)
            .envs(&program.environment)
            // Servers such as smbd end when a pipe at their input does.
            .stdin(if program.input.is_empty() {
                Stdio::null()
            } else {
                Stdio::piped()
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(directory) = &program.directory {
            command.current_dir(directory);
        }
        own_group(&mut command);
        let mut child = command
            .spawn()
            .map_err(|e| format!("{first} does not start: {e}"))?;
        let group = match Group::of(&child) {
            Ok(group) => group,
            Err(error) => {
                child.kill().ok();
                child.wait().ok();
                return Err(format!("{first} cannot be kept together: {error}"));
            }
        };
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let stated = [
            std::thread::spawn(move || tail(out)),
            std::thread::spawn(move || tail(err)),
        ];
        if let Some(mut stdin) = child.stdin.take() {
            let input = program.input.clone();
            // A program that reads nothing closes its end, which is no error.
            std::thread::spawn(move || stdin.write_all(input.as_bytes()).ok());
        }
        Ok(Self {
            child,
            group,
            stated: Some(stated),
        })
    }

    /// Whether it has ended by itself. It is not waited for yet: its number is nobody else's.
    fn ended(&mut self) -> Result<bool, String> {
        has_ended(&mut self.child).map_err(|e| e.to_string())
    }

    /// Ends it and everything that it started; its exit status, and the end of what it printed.
    fn finish(mut self) -> (Option<i32>, [String; 2]) {
        self.group.kill();
        let status = self.child.wait().ok().and_then(|status| status.code());
        let stated = self.stated.take().expect("taken only here");
        let texts = stated.map(|thread| {
            let bytes = thread.join().unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        });
        (status, texts)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.stated.is_some() {
            self.group.kill();
            self.child.wait().ok();
        }
    }
}

/// The end of what a stream brings.
fn tail(stream: Option<impl Read>) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut buffer = [0; 4096];
    let Some(mut stream) = stream else {
        return kept;
    };
    loop {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return kept,
            Ok(count) => kept.extend_from_slice(&buffer[..count]),
        }
        if kept.len() > 2 * TAIL_BYTES {
            kept.drain(..kept.len() - TAIL_BYTES);
        }
    }
}

/// Runs a program to its end, for at most `timeout_s`; the `performed` event.
pub fn perform(program: &Program, timeout_s: f64) -> Result<Answer, String> {
    let started_ns = monotonic_ns();
    let deadline = Instant::now() + Duration::from_secs_f64(timeout_s.clamp(0.0, 86_400.0));
    let mut running = Running::start(program)?;
    let mut timed_out = false;
    while !running.ended()? {
        if Instant::now() >= deadline {
            timed_out = true;
            break;
        }
        std::thread::sleep(LOOK);
    }
    let elapsed_ns = monotonic_ns() - started_ns;
    let (status, [output, error]) = running.finish();
    Ok(Answer::Performed {
        status,
        timed_out,
        elapsed_ns,
        output,
        error,
    })
}

/// Runs a program in the background until it is stopped.
pub fn start(
    program: &Program,
    over: &Arc<AtomicBool>,
) -> Result<JoinHandle<Result<Yield, String>>, String> {
    let mut running = Running::start(program)?;
    let over = Arc::clone(over);
    Ok(std::thread::spawn(move || {
        let mut ended_before = false;
        while !over.load(Ordering::Relaxed) {
            if running.ended()? {
                ended_before = true;
                break;
            }
            std::thread::sleep(10 * LOOK);
        }
        let (status, [output, error]) = running.finish();
        Ok(Yield::Program(Ended {
            ended_before,
            status,
            output,
            error,
        }))
    }))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use serde_json::{json, Value};

    fn performed(program: &Program, timeout_s: f64) -> Value {
        json!(perform(program, timeout_s).unwrap())
    }

    fn shell(script: &str, input: &str) -> Program {
        serde_json::from_value(json!({
            "command": ["sh", "-c", script], "environment": {"WORD": "heard"}, "input": input,
        }))
        .unwrap()
    }

    #[test]
    fn a_program_gets_its_input_and_reports_how_it_ended() {
        let script = "read x; echo $WORD $x; echo no >&2; exit 3";
        let done = performed(&shell(script, "it\n"), 10.0);
        assert_eq!(done["output"], "heard it\n");
        assert_eq!(done["error"], "no\n");
        assert_eq!(done["status"], 3);
        assert_eq!(done["timed_out"], false);
    }

    #[test]
    fn one_that_takes_too_long_is_ended_with_its_children() {
        let started = Instant::now();
        let done = performed(&shell("sleep 77 & sleep 77", ""), 0.1);
        assert_eq!(done["timed_out"], true);
        assert!(done["status"].is_null());
        // One that ends by itself leaves a child that holds its output open.
        let left = performed(&shell("sleep 77 & exit 4", ""), 60.0);
        assert_eq!(
            (&left["status"], &left["timed_out"]),
            (&json!(4), &json!(false))
        );
        assert!(started.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn one_in_the_background_reports_whether_it_was_there_to_the_end() {
        for (script, before) in [("exit 7", true), ("sleep 77", false)] {
            let over = Arc::new(AtomicBool::new(false));
            let thread = start(&shell(script, ""), &over).unwrap();
            let mut patience = 500;
            while before && !thread.is_finished() && patience > 0 {
                std::thread::sleep(LOOK);
                patience -= 1;
            }
            over.store(true, Ordering::Relaxed);
            let done = json!(thread.join().unwrap().unwrap());
            assert_eq!(done["ended_before"], before, "{script}");
        }
    }

    #[test]
    fn what_is_not_there_is_named() {
        let program = serde_json::from_value(json!({"command": ["/nowhere/x"]})).unwrap();
        assert!(perform(&program, 1.0).unwrap_err().contains("/nowhere/x"));
    }
}
