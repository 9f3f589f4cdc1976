//! The command line of `pentathlon-agent`.

use lexopt::prelude::*;
use pentathlon_agent::{endpoint, schema};
use pentathlon_harness::clock;
use pentathlon_harness::{EXIT_STATUS, EXIT_VERB};
use pentathlon_packets::join::join;
use pentathlon_session::{self as session, build, catalog};
use pentathlon_session::{graphics, guard};
use serde_json::json;
use std::io::{Read, Write};
use std::process::ExitCode;
use {pentathlon_inventory as inventory, pentathlon_workloads as workloads};

const HELP: &str = "\
pentathlon-agent: measures the system that it runs on

Usage: pentathlon-agent VERB

Verbs:
  catalog     print what can be measured, as one JSON document
  schema      print what requests, events, commands and the catalog hold, as one JSON Schema
  inventory   print what this system is made of, as one JSON document
  run         read one request (JSON) from standard input, write events as JSON lines
  endpoint    be one host of a test between hosts: commands in, events and records out
  join        read one request, join the records of both ends of a flow, print the metrics of them
  guard VERB  run a verb (run, endpoint) in a private directory; end all that it started and remove
              the directory when it ends, or when the standard input does; --below DIR: make it
              there, --files: files come first, --placed: remove the agent's own file too,
              --home DIR: the session's directory, whose file `undo` lists what puts changes back,
              --owner ID WORDS (one word): who it is; status 7 where another ID has a session there
  init        serve one request as process 1 of a guest, then power the guest off

Options:
  --version   print the version and the build hash
  --help      print this text

Exit status: 0 done, 1 nobody read the output, or records are damaged, 2 a wrong verb or request.
The request and the events are described in docs/protocol.md.";

/// Bytes that are read of a request to join; a longer one is cut, and no JSON any more.
const LONGEST_JOIN: u64 = 1 << 20;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if pentathlon_os::guest::is_init() && std::env::args().any(|a| a == "init") {
        // Kernels append words of their own to the arguments of process 1.
        session::guest::init();
    }
    let permitted = clock::permit().map(|remark| {
        if let Some(remark) = remark {
            eprintln!("pentathlon-agent: {remark}");
        }
    });
    if let Err(sentence) = permitted {
        eprintln!("pentathlon-agent: {sentence}");
        return ExitCode::from(2);
    }
    match verb() {
        Ok(code) => ExitCode::from(code),
        Err(sentence) => {
            eprintln!(
                "pentathlon-agent: {sentence}; `pentathlon-agent --help` lists what there is"
            );
            ExitCode::from(2)
        }
    }
}

fn verb() -> Result<u8, String> {
    let mut arguments = lexopt::Parser::from_env();
    let mut verb: Option<String> = None;
    let mut orders = guard::Orders::default();
    while let Some(argument) = arguments.next().map_err(|e| e.to_string())? {
        match argument {
            Long("version") | Short('V') => {
                let build = build::this();
                // scripts/test looks for the last words.
                let made_for = if build.debug_assertions {
                    ", for tests only"
                } else {
                    ""
                };
                return print(&format!(
                    "pentathlon-agent {} (build {}, {}{made_for})",
                    build.version, build.build, build.target
                ));
            }
            Long("help") | Short('h') => return print(HELP),
            #[cfg(windows)]
            Value(bytes) if verb.as_deref() == Some("echo") => {
                // Only ever asked by another process of this program, with a number.
                let bytes = bytes
                    .to_string_lossy()
                    .parse()
                    .map_err(|_| "echo needs a number")?;
                return Ok(u8::from(
                    pentathlon_workloads::process::echo(bytes).is_err(),
                ));
            }
            Long("below") if verb.as_deref() == Some("guard") => {
                let place = arguments.value().map_err(|e| e.to_string())?;
                orders.below = Some(place.into());
            }
            Long("home") if verb.as_deref() == Some("guard") => {
                let place = arguments.value().map_err(|e| e.to_string())?;
                orders.home = Some(place.into());
            }
            Long("owner") if verb.as_deref() == Some("guard") => {
                let owner = arguments.value().map_err(|e| e.to_string())?;
                orders.owner = Some(owner.to_string_lossy().into_owned());
            }
            Long("files") if verb.as_deref() == Some("guard") => orders.files = true,
            Long("placed") if verb.as_deref() == Some("guard") => orders.placed = true,
            Value(value) if verb.as_deref() == Some("guard") && orders.verb.is_empty() => {
                orders.verb = value.to_string_lossy().into_owned();
            }
            Value(value) if verb.is_none() => verb = Some(value.to_string_lossy().into_owned()),
            other => return Err(other.unexpected().to_string()),
        }
    }
    match verb.as_deref() {
        Some("catalog") => document(&catalog::document(
            &workloads::all(),
            graphics::catalog().unwrap_or_else(|reason| {
                eprintln!("pentathlon-agent catalog: {reason}");
                Vec::new()
            }),
        )),
        Some("inventory") => document(&json!({
            "agent": build::this(),
            "clock": clock::calibrate(),
            "system": inventory::collect(&std::env::temp_dir()),
        })),
        Some("schema") => document(&schema::document()),
        Some("run") => Ok(session::serve() as u8),
        Some("join") => {
            let mut request = String::new();
            std::io::stdin()
                .take(LONGEST_JOIN)
                .read_to_string(&mut request)
                .map_err(|e| e.to_string())?;
            let request = serde_json::from_str(&request).map_err(|e| e.to_string())?;
            match join(&request) {
                Ok(joined) => document(&json!(joined)),
                Err(reason) => {
                    eprintln!("{reason}");
                    Ok(1)
                }
            }
        }
        Some("guard") => match orders.verb.as_str() {
            "run" | "endpoint" => Ok(guard::guard(&orders)),
            other => Err(format!(
                "guard needs a verb that it runs, run or endpoint, and not '{other}'"
            )),
        },
        Some("endpoint") => Ok(endpoint::serve() as u8),
        Some(EXIT_VERB) => Ok(EXIT_STATUS),
        Some("worker") => Ok(session::work(&workloads::runnable()) as u8),
        Some("init") => {
            Err("init powers its machine off, so it runs only as process 1 of a guest".into())
        }
        Some(other) => Err(format!("there is no verb '{other}'")),
        None => Err("a verb is missing".into()),
    }
}

fn document(value: &serde_json::Value) -> Result<u8, String> {
    print(&serde_json::to_string_pretty(value).expect("plain data"))
}

/// Prints a line; a reader that went away is not worth a panic.
fn print(text: &str) -> Result<u8, String> {
    Ok(u8::from(writeln!(std::io::stdout(), "{text}").is_err()))
}
