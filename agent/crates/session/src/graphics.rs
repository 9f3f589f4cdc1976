//! The graphics program beside this one. It loads the system's graphics driver, which a static
//! file cannot, so it is a program of its own; it speaks to this one as any worker does.

use pentathlon_os::process::{self, Group};
use serde_json::Value;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

pub const NAME: &str = "pentathlon-graphics";
/// Names the program's file where it is not beside this one.
pub const VARIABLE: &str = "PENTATHLON_GRAPHICS";
const ABSENT: &str = "pentathlon-graphics, which draws, is not installed beside \
                      pentathlon-agent; `scripts/setup graphics` builds it, and \
                      PENTATHLON_GRAPHICS names it elsewhere";
/// Guests are started with the agent and nothing else.
const ABSENT_IN_GUEST: &str =
    "this guest has no graphics adapter, and the program that draws is not put into it";
const AREA: &str = "graphics.";
/// A driver may take seconds to load, and a broken one for ever.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether the workload of this id is one of the graphics program.
pub fn has(workload: &str) -> bool {
    workload.starts_with(AREA)
}

/// Whether this process is the graphics program itself.
pub fn is_this_program() -> bool {
    std::env::current_exe().is_ok_and(|file| file.file_stem().is_some_and(|stem| stem == NAME))
}

/// Why it is not there.
pub fn absent() -> &'static str {
    // Where the first process is this program, nothing else runs.
    let first = std::fs::read_link("/proc/1/exe");
    if first.is_ok_and(|first| std::env::current_exe().is_ok_and(|this| this == first)) {
        ABSENT_IN_GUEST
    } else {
        ABSENT
    }
}

/// Its file: named by [`VARIABLE`], or beside this program.
pub fn locate() -> Option<PathBuf> {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    let file = format!("{NAME}{}", std::env::consts::EXE_SUFFIX);
    let beside = || Some(std::env::current_exe().ok()?.with_file_name(file));
    named.or_else(beside).filter(|path| path.is_file())
}

/// The entries of its catalog; none where it is not installed. The error is a sentence.
pub fn catalog() -> Result<Vec<Value>, String> {
    let Some(mut document) = ask("catalog")? else {
        return Ok(Vec::new());
    };
    let own = crate::build::this().sources;
    if document["agent"]["sources"] != own {
        return Err(format!(
            "{NAME} is left out: it is made of the sources {}, this agent of {own}; install \
             both of one version",
            document["agent"]["sources"]
        ));
    }
    match document["workloads"].take() {
        Value::Array(workloads) => Ok(workloads),
        _ => Err(format!("{NAME} printed a catalog without workloads")),
    }
}

/// Adapters, drivers and displays as it finds them, or why that is not known.
pub fn inventory() -> Value {
    match ask("inventory") {
        Ok(Some(document)) => document,
        Ok(None) => serde_json::json!({ "unsupported": absent() }),
        Err(reason) => serde_json::json!({ "unsupported": reason }),
    }
}

/// What it prints when it is asked with a verb; `None` where it is not installed.
fn ask(verb: &str) -> Result<Option<Value>, String> {
    let Some(program) = locate() else {
        return Ok(None);
    };
    let mut command = Command::new(&program);
    command
        .arg(verb)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        // Drivers are talkative, and a question has one answer.
        .stderr(Stdio::null());
    process::own_group(&mut command);
    let failed = |error| format!("{NAME} {verb} failed: {error}");
    let mut child = command.spawn().map_err(failed)?;
    let group = Group::of(&child).map_err(failed)?;
    let mut output = child.stdout.take().expect("stdout is piped");
    let (sender, answer) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let read = output.read_to_string(&mut text).map(|_| text);
        sender.send(read).ok();
    });
    let text = answer.recv_timeout(PATIENCE);
    if text.is_err() {
        group.kill();
    }
    let status = child.wait().map_err(failed)?;
    reader.join().ok();
    match text {
        Err(_) => Err(format!(
            "{NAME} {verb} took longer than {} s and was ended",
            PATIENCE.as_secs()
        )),
        Ok(Err(error)) => Err(failed(error)),
        Ok(Ok(_)) if !status.success() => Err(format!("{NAME} {verb} ended with {status}")),
        Ok(Ok(text)) => serde_json::from_str(&text)
            .map(Some)
            .map_err(|error| format!("{NAME} {verb} printed no JSON document: {error}")),
    }
}
