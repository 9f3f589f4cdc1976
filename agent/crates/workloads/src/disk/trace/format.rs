//! The text of a trace: a header and one operation on each line (docs/disk-traces.md).

use serde::{Deserialize, Serialize};
#[cfg(test)]
use serde_json::json;
use serde_json::Value;

const FORMAT: &str = "pentathlon-disk-trace";
const VERSION: u32 = 1;

/// A recorded or generated sequence of operations on numbered files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    pub name: String,
    /// Size of each file before the first operation; none if it is not there.
    pub files: Vec<Option<u64>>,
    pub steps: Vec<Step>,
}

/// One operation, and when it was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Since the beginning of the recording, in us. Replay does not wait for it.
    pub time_us: u64,
    pub file: usize,
    pub operation: Operation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Open,
    /// Opens, and makes the file or empties it.
    Create,
    Close,
    Read {
        position: u64,
        bytes: u64,
    },
    Write {
        position: u64,
        bytes: u64,
    },
    Sync,
    Stat,
    Unlink,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    version: u32,
    name: String,
    files: Vec<Option<u64>>,
}

impl Trace {
    /// Reads the text of a trace. The error names the line and what would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty());
        let (_, first) = lines.next().ok_or("the trace is empty")?;
        let header: Header = serde_json::from_str(first)
            .map_err(|e| format!("line 1 of the trace is no header: {e}"))?;
        if header.format != FORMAT || header.version != VERSION {
            return Err(format!(
                "line 1 of the trace says format '{}' version {}, it must be '{FORMAT}' version \
                 {VERSION}",
                header.format, header.version
            ));
        }
        let steps = lines
            .map(|(number, line)| {
                step(line, header.files.len())
                    .map_err(|reason| format!("line {} of the trace: {reason}", number + 1))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            name: header.name,
            files: header.files,
            steps,
        })
    }

    /// The text that `parse` reads.
    #[cfg(test)]
    pub fn text(&self) -> String {
        let header = Header {
            format: FORMAT.into(),
            version: VERSION,
            name: self.name.clone(),
            files: self.files.clone(),
        };
        let mut text = json!(header).to_string();
        for step in &self.steps {
            text.push('\n');
            text.push_str(&line(step).to_string());
        }
        text.push('\n');
        text
    }
}

#[cfg(test)]
fn line(step: &Step) -> Value {
    let (time, file) = (step.time_us, step.file);
    match step.operation {
        Operation::Open => json!([time, "open", file]),
        Operation::Create => json!([time, "create", file]),
        Operation::Close => json!([time, "close", file]),
        Operation::Read { position, bytes } => json!([time, "read", file, position, bytes]),
        Operation::Write { position, bytes } => json!([time, "write", file, position, bytes]),
        Operation::Sync => json!([time, "fsync", file]),
        Operation::Stat => json!([time, "stat", file]),
        Operation::Unlink => json!([time, "unlink", file]),
    }
}

fn step(line: &str, files: usize) -> Result<Step, String> {
    const SHAPE: &str = "it must be [time, operation, file] or [time, operation, file, position, \
                         bytes]";
    let parts: Vec<Value> = serde_json::from_str(line).map_err(|_| SHAPE.to_owned())?;
    let number = |at: usize| parts.get(at).and_then(Value::as_u64);
    let (Some(time_us), Some(name), Some(file)) =
        (number(0), parts.get(1).and_then(Value::as_str), number(2))
    else {
        return Err(SHAPE.into());
    };
    let extent = number(3).zip(number(4));
    let operation = match (name, parts.len(), extent) {
        ("open", 3, _) => Operation::Open,
        ("create", 3, _) => Operation::Create,
        ("close", 3, _) => Operation::Close,
        ("fsync", 3, _) => Operation::Sync,
        ("stat", 3, _) => Operation::Stat,
        ("unlink", 3, _) => Operation::Unlink,
        ("read", 5, Some((position, bytes))) => Operation::Read { position, bytes },
        ("write", 5, Some((position, bytes))) => Operation::Write { position, bytes },
        ("open" | "create" | "close" | "fsync" | "stat" | "unlink" | "read" | "write", _, _) => {
            return Err(format!("'{name}' has the wrong parts: {SHAPE}"))
        }
        _ => {
            return Err(format!(
                "there is no operation '{name}'; known are: open, create, close, read, write, \
                 fsync, stat, unlink"
            ))
        }
    };
    let file = file as usize;
    if file >= files {
        return Err(format!(
            "file {file} is not in the header, which has {files}"
        ));
    }
    Ok(Step {
        time_us,
        file,
        operation,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str =
        r#"{"format":"pentathlon-disk-trace","version":1,"name":"x","files":[4096,null]}"#;

    #[test]
    fn a_trace_survives_its_text() {
        let trace = Trace {
            name: "mine".into(),
            files: vec![Some(10_000), None],
            steps: [
                Operation::Open,
                Operation::Read {
                    position: 1,
                    bytes: 2,
                },
                Operation::Write {
                    position: 3,
                    bytes: 4,
                },
                Operation::Sync,
                Operation::Stat,
                Operation::Close,
                Operation::Unlink,
                Operation::Create,
            ]
            .into_iter()
            .enumerate()
            .map(|(n, operation)| Step {
                time_us: n as u64 * 7,
                file: n % 2,
                operation,
            })
            .collect(),
        };
        assert_eq!(Trace::parse(&trace.text()).unwrap(), trace);
    }

    #[test]
    fn each_wrong_line_is_named_with_what_would_be_right() {
        for (text, expected) in [
            ("", "is empty"),
            ("{}", "line 1 of the trace is no header"),
            (
                &HEADER.replace("1,\"name", "2,\"name"),
                "version 2, it must be",
            ),
            (
                &format!("{HEADER}\n[1,\"open\"]"),
                "line 2 of the trace: it must be",
            ),
            (
                &format!("{HEADER}\n\n[1,\"read\",0]"),
                "line 3 of the trace: 'read' has the wrong",
            ),
            (&format!("{HEADER}\n[1,\"mmap\",0]"), "no operation 'mmap'"),
            (
                &format!("{HEADER}\n[1,\"open\",2]"),
                "file 2 is not in the header",
            ),
            (&format!("{HEADER}\n[-1,\"open\",0]"), "it must be"),
            (&format!("{HEADER}\nx"), "it must be"),
        ] {
            let error = Trace::parse(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
