//! A user's own command as a workload. It has no entry in the catalog: the experimenter makes one
//! from the study, and takes the values of the metrics out of what each run reports.

mod capture;
mod directory;
mod environment;
mod program;
mod ready;
mod run;
mod warm;
mod watch;

use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{Context, Execution, Failure, Runs};
use pentathlon_os::process::Group;
use pentathlon_os::{accounted, descendants};
use pentathlon_protocol::catalog::{self, Semantics};
use pentathlon_protocol::command::{Command, CommandCase};
use pentathlon_protocol::{Case, CaseValue};
use run::{After, Timed};
use serde_json::Value;
use std::path::{Path, PathBuf};
use warm::Warm;

/// What runs the command of a request; its description stands for one that the agent does not have.
pub struct Runner;

impl pentathlon_harness::Workload for Runner {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: pentathlon_harness::COMMAND,
            title: "",
            summary: "",
            source: "",
            parameters: vec![],
            factors: vec![],
            metrics: vec![],
            checksum: "",
            semantics: Semantics::alike(""),
        }
    }

    fn switches(&self) -> bool {
        true
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let command = context
            .command
            .take()
            .ok_or_else(|| Failure::Failed("the request has no command".into()))?;
        descendants::adopt();
        // One byte more, which distinguishes a file beyond the limit from one of exactly that size.
        accounted::limit_files(command.largest_file_bytes.saturating_add(1))
            .map_err(|error| Failure::system("limiting the files that it may write", &error))?;
        let files = match (&context.files, &command.files) {
            (Some(all), Some(own)) => Some(all.join(own)),
            (None, Some(_)) => {
                return Err(Failure::Failed(
                    "the request says nothing of where the command's files are".into(),
                ))
            }
            _ => None,
        };
        let mut place = Place {
            base: context.scratch.clone(),
            files,
            kept: Vec::new(),
            group: None,
            warm: Warm::new(&context.scratch),
            turn: 0,
        };
        let outcome = place.set_up(&command).map(|()| {
            for case in &command.cases {
                let known = known(case);
                let mut one = One {
                    place: &mut place,
                    command: &command,
                    case,
                    directory: None,
                };
                context.executions(&known, &mut one);
            }
        });
        // What the setup left running, such as a server.
        std::env::set_current_dir(&context.scratch).ok();
        if let Some(group) = place.group.take() {
            group.kill();
        }
        descendants::end(&[]);
        outcome
    }
}

/// The case for the events. Its names live as long as this process, which runs one workload.
fn known(of: &CommandCase) -> Case {
    let mut case = Case::new();
    for (name, value) in &of.case {
        let value = match value {
            Value::Number(number) => number
                .as_u64()
                .map_or_else(|| CaseValue::Number(number.clone()), CaseValue::Integer),
            Value::String(text) => CaseValue::Text(text.clone()),
            other => CaseValue::Text(other.to_string()),
        };
        case.0.push((name.clone().leak(), value));
    }
    case
}

/// Where the runs of a command take place.
struct Place {
    base: PathBuf,
    /// What stands in the directory of each run; after the setup, what that left.
    files: Option<PathBuf>,
    /// Processes that the setup left running; they stay until the workload is over.
    kept: Vec<u32>,
    /// What holds these together.
    group: Option<Group>,
    warm: Warm,
    turn: u64,
}

impl Place {
    fn set_up(&mut self, command: &Command) -> Result<(), Failure> {
        if command.setup.is_empty() {
            return Ok(());
        }
        let own = self.base.join("setup");
        directory::make(&own, self.files.as_deref())?;
        let stated = self.base.join("setup.output");
        let done = run::one(&own, &command.setup, command, After::Stay(&stated), None)?;
        done.succeeded("the setup", &command.setup, command)?;
        self.group = done.group;
        let living = descendants::living(&[]);
        self.kept = living.into_iter().map(|(id, _)| id).collect();
        self.files = Some(own);
        Ok(())
    }
}

/// One case of a command.
struct One<'a> {
    place: &'a mut Place,
    command: &'a Command,
    case: &'a CommandCase,
    directory: Option<PathBuf>,
}

impl One<'_> {
    /// Runs the program before or after a run, if there is one.
    fn auxiliary(&self, what: &str, words: &[String]) -> Result<(), Failure> {
        let Some(directory) = self.directory.as_deref().filter(|_| !words.is_empty()) else {
            return Ok(());
        };
        let after = After::End(&self.place.kept);
        run::one(directory, words, self.command, after, None)?.succeeded(what, words, self.command)
    }
}

impl Runs for One<'_> {
    fn prepare(&mut self) -> Result<(), Failure> {
        self.place.turn += 1;
        // Names of one length, so that no run has a longer environment than another.
        let own = self.place.base.join(format!("{:08}", self.place.turn));
        self.directory = Some(own.clone());
        directory::make(&own, self.place.files.as_deref())?;
        self.auxiliary("prepare", &self.case.prepare)
    }

    fn run(&mut self, clock: &Clock) -> Result<Execution, Failure> {
        let directory = self.directory.as_deref().unwrap_or(Path::new("."));
        let (words, after) = (&self.case.command, After::End(&self.place.kept));
        let timed = Timed {
            clock,
            warm: &self.place.warm,
        };
        let done = run::one(directory, words, self.command, after, Some(timed))?;
        if !self.command.any_status {
            done.succeeded("the command", words, self.command)?;
        }
        Ok(Execution {
            wall_ns: done.wall_ns,
            status: done.status("the command", words, self.command)?,
            accounts: done.accounts,
            output: done.output,
            error: done.error,
        })
    }

    fn finish(&mut self) -> Result<(), Failure> {
        let cleaned = self.auxiliary("cleanup", &self.case.cleanup);
        std::env::set_current_dir(&self.place.base).ok();
        if let Some(directory) = self.directory.take() {
            directory::remove(&directory);
        }
        cleaned
    }
}
