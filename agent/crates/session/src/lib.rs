//! One session: the request is read, every workload runs in processes of its own, events are
//! passed on.

mod background;
pub mod build;
pub mod catalog;
pub mod graphics;
pub mod guard;
#[cfg(target_os = "linux")]
pub mod guest;
mod home;
#[cfg(target_os = "linux")]
mod machine;
mod output;
#[cfg(unix)]
mod placement;
#[cfg(windows)]
#[path = "placement_windows.rs"]
mod placement;
mod prepare;
mod supervisor;
mod worker;

pub use background::Worker;
pub use placement::apply as place;
pub use supervisor::serve;
pub use worker::work;

use pentathlon_protocol::{Calibration, Gate, Placement, Task};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Read};
use std::path::PathBuf;

/// What the supervisor sends to a worker process, on its standard input.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Assignment {
    /// Sources of the program that gives it: the worker may be another program.
    sources: String,
    /// Monotonic clock reading that `t_ns` counts from.
    epoch_ns: u64,
    seed: u64,
    scratch: PathBuf,
    files: Option<PathBuf>,
    placement: Placement,
    calibration: Calibration,
    index: usize,
    count: usize,
    process: u32,
    gate: Option<Gate>,
    task: Task,
}

/// Longest request, in bytes: some 10,000 times that of an ordinary study.
const LONGEST_REQUEST: u64 = 16 << 20;

/// Reads one JSON document without waiting for the end of the input, because a console has none.
pub fn read_document<T: for<'de> Deserialize<'de>>(mut input: impl BufRead) -> Result<T, String> {
    let mut text = Vec::new();
    loop {
        let before = text.len();
        // One byte beyond the limit shows that there is more.
        let left = LONGEST_REQUEST + 1 - before as u64;
        match input.by_ref().take(left).read_until(b'\n', &mut text) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(format!("the request could not be read: {error}")),
            Ok(_) => {}
        }
        if text.len() as u64 > LONGEST_REQUEST {
            return Err(format!(
                "the request is longer than {LONGEST_REQUEST} bytes, the most that is read"
            ));
        }
        if text.len() > before && text.iter().all(u8::is_ascii_whitespace) {
            // Blank lines before the document would be parsed again with each further one.
            text.clear();
            continue;
        }
        let ended = text.len() == before;
        match serde_json::from_slice(&text) {
            Ok(document) => return Ok(document),
            Err(error) if error.is_eof() && !ended => continue,
            Err(error) if error.is_eof() => {
                return Err("the request ended before its JSON document was complete".into())
            }
            Err(error) => {
                // It may quote a name of the request, which then stands on a terminal.
                let error = one_line(&error.to_string());
                return Err(format!("the request is not right: {error}"));
            }
        }
    }
}

/// A text with its control characters written out.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    for character in text.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn a_document_over_several_lines_is_read_without_an_end_of_input() {
        let text = b"\n{\"a\":\n 1}\n{\"next\": 2}\n";
        let value: Value = read_document(&text[..]).unwrap();
        assert_eq!(value["a"], 1);
    }

    #[test]
    fn a_document_without_an_end_is_not_read_into_memory() {
        /// A text without an end; counts what was taken of it.
        struct Endless(u64);
        impl Read for Endless {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                buffer.fill(b'x');
                if self.0 == 0 {
                    buffer[0] = b'"';
                }
                self.0 += buffer.len() as u64;
                Ok(buffer.len())
            }
        }
        let mut input = Endless(0);
        let reason = read_document::<Value>(io::BufReader::new(&mut input)).unwrap_err();
        assert!(reason.contains("longer than 16777216 bytes"), "{reason}");
        assert!(
            input.0 <= LONGEST_REQUEST + (1 << 20),
            "{} were read",
            input.0
        );
    }

    #[test]
    fn a_cut_document_and_a_wrong_one_are_distinguished() {
        let cut = read_document::<Value>(&b"{\"a\": "[..]).unwrap_err();
        assert!(cut.contains("ended before"), "{cut}");
        let wrong = read_document::<Value>(&b"{\"a\" 1}\n"[..]).unwrap_err();
        assert!(wrong.contains("line 1"), "{wrong}");
    }
}
