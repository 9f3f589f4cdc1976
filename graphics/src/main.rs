//! `pentathlon-graphics`: the graphics workloads, a program beside `pentathlon-agent` that starts it
//! as the worker of whatever draws. It loads the system's graphics driver, which a static file
//! cannot. Standard input and output are the agent's (see `docs/protocol.md`).

mod bench;
mod gpu;
mod picture;
mod reference;
mod scene;
mod shape;
mod sys;

use lexopt::prelude::*;
use pentathlon_session::{build, catalog};
use serde_json::json;
use std::io::Write;
use std::process::ExitCode;

/// Hash of this program's own sources; the agent's stands beside it.
pub const BUILD: &str = env!("PENTATHLON_GRAPHICS_BUILD");

const HELP: &str = "\
pentathlon-graphics: measures what the system's graphics driver draws

Usage: pentathlon-graphics VERB

Verbs:
  catalog           print what can be measured, as one JSON document
  inventory         print adapters, drivers and display, as one JSON document
  run               read one request (JSON) from standard input, write events as JSON lines
  references FILE   draw every scene as the reference and write them to a PNG file

pentathlon-agent starts it by itself where it lies beside it, or where PENTATHLON_GRAPHICS names it.

Exit status: 0 done, 1 nobody read the output or nothing can draw, 2 a wrong verb or request.";

fn main() -> ExitCode {
    if let Err(sentence) = pentathlon_harness::clock::permit() {
        eprintln!("pentathlon-graphics: {sentence}");
        return ExitCode::from(2);
    }
    match verb() {
        Ok(code) => ExitCode::from(code),
        Err(sentence) => {
            eprintln!(
                "pentathlon-graphics: {sentence}; `pentathlon-graphics --help` lists what there is"
            );
            ExitCode::from(2)
        }
    }
}

fn verb() -> Result<u8, String> {
    let mut arguments = lexopt::Parser::from_env();
    let mut words = Vec::new();
    while let Some(argument) = arguments.next().map_err(|e| e.to_string())? {
        match argument {
            Long("help") | Short('h') => return print(HELP),
            Long("version") | Short('V') => {
                let agent = build::this();
                return print(&format!(
                    "pentathlon-graphics {} (build {BUILD}, agent's sources {}, {})",
                    env!("CARGO_PKG_VERSION"),
                    agent.sources,
                    agent.target
                ));
            }
            Value(value) if words.len() < 2 => words.push(value.to_string_lossy().into_owned()),
            other => return Err(other.unexpected().to_string()),
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["catalog"] => document(&catalog::document(&bench::workloads(), Vec::new())),
        ["inventory"] => document(&gpu::describe::inventory()),
        ["run"] => Ok(pentathlon_session::serve() as u8),
        ["worker"] => Ok(pentathlon_session::work(&bench::workloads()) as u8),
        ["references", file] => references(file),
        [] => Err("a verb is missing".into()),
        ["references"] => Err("references needs the name of the file to write".into()),
        [other, ..] => Err(format!("there is no verb '{other}'")),
    }
}

fn references(file: &str) -> Result<u8, String> {
    match bench::draw_references() {
        Ok(pictures) => {
            std::fs::write(file, reference::encode(&pictures))
                .map_err(|error| format!("{file} cannot be written: {error}"))?;
            Ok(0)
        }
        Err(failure) => {
            eprintln!("pentathlon-graphics references: {failure:?}");
            Ok(1)
        }
    }
}

fn document(value: &serde_json::Value) -> Result<u8, String> {
    print(&serde_json::to_string_pretty(&json!(value)).expect("plain data"))
}

/// Prints a line; a reader that went away is not worth a panic.
fn print(text: &str) -> Result<u8, String> {
    Ok(u8::from(writeln!(std::io::stdout(), "{text}").is_err()))
}
