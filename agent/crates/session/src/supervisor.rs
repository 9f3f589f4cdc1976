//! The supervisor: starts one worker per workload and process, passes its lines on, ends it when
//! it takes too long, and reports when it dies.

use super::output::{Next, Output};
use super::{build, graphics, placement, prepare, read_document, Assignment};
use pentathlon_harness::clock;
use pentathlon_harness::counters::Counters;
use pentathlon_harness::{Emitter, Scratch};
use pentathlon_os::descendants;
use pentathlon_os::process::{self, Group};
use pentathlon_protocol::{ErrorKind, Event, Opening, Release, Request, Task};
use serde::Serialize;
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Instant;

/// Serves one request from standard input. Returns the exit status: 0 done, 2 a wrong request.
pub fn serve() -> i32 {
    let epoch_ns = clock::monotonic_ns();
    let mut emitter = Emitter::new(io::stdout(), epoch_ns);
    let request = read_document::<Request>(io::stdin().lock())
        .and_then(|request| match &request.at {
            None => Ok(request),
            Some(path) => File::open(path)
                .map_err(|error| format!("the request at {}: {error}", path.display()))
                .and_then(|file| read_document::<Request>(BufReader::new(file))),
        })
        .and_then(|request| request.validate().map(|()| request));
    match request {
        Ok(request) => {
            let mut session = Session {
                epoch_ns,
                emitter,
                samples: 0,
                errors: 0,
            };
            // A reader that went away ends the session; there is nobody left to report to.
            i32::from(session.run(&request).is_err())
        }
        Err(reason) => {
            eprintln!("pentathlon-agent run: {reason}");
            emitter.send(&request_error(reason)).ok();
            2
        }
    }
}

fn request_error(reason: String) -> Event {
    Event::Error {
        workload: None,
        index: None,
        process: None,
        kind: ErrorKind::Request,
        reason,
        case: None,
    }
}

struct Session<W: Write> {
    epoch_ns: u64,
    emitter: Emitter<W>,
    samples: u64,
    errors: u64,
}

impl<W: Write> Session<W> {
    fn run(&mut self, request: &Request) -> io::Result<()> {
        if let Err(failure) = placement::apply(&request.placement) {
            // Each worker meets the same refusal and reports it for its workload.
            self.log(
                "warning",
                format!("the placement was not applied: {failure:?}"),
            )?;
        }
        let calibration = clock::calibrate();
        let scratch = match Scratch::new(request.scratch.as_deref()) {
            Ok(scratch) => scratch,
            Err(error) => {
                let reason = format!(
                    "no scratch directory could be made in {}: {error}",
                    request
                        .scratch
                        .as_deref()
                        .unwrap_or(Path::new("the temporary directory"))
                        .display()
                );
                self.errors += 1;
                self.emitter.send(&request_error(reason))?;
                return self.done();
            }
        };
        self.emitter.send(&Event::Inventory(Box::new(Opening {
            session: request.session.clone(),
            agent: build::this(),
            clock: calibration.clone(),
            system: request
                .inventory
                .then(|| inventory(request, scratch.path())),
            placement: placement::in_force(),
            telemetry: Counters::open().support(),
        })))?;
        for (index, step) in request.prepare.iter().enumerate() {
            let emitter = &mut self.emitter;
            prepare::run(step, index, scratch.path(), &mut |event| {
                emitter.send(&event)
            })?;
        }
        if request.workloads.iter().any(|task| task.command.is_some()) {
            descendants::adopt();
        }
        let count = request.workloads.len();
        for (index, task) in request.workloads.iter().enumerate() {
            if request.gate.is_some() {
                self.emitter.send(&Event::Ready {
                    workload: task.id.clone(),
                    index,
                    process: 0,
                    case: None,
                    iteration: None,
                })?;
                if !self.released(index)? {
                    return self.done();
                }
            }
            for process in 0..task.processes {
                let assignment = Assignment {
                    sources: build::this().sources.into(),
                    epoch_ns: self.epoch_ns,
                    seed: request.seed,
                    scratch: scratch.path().join(format!("{index}-{process}")),
                    files: request.files.clone(),
                    placement: request.placement.clone(),
                    calibration: calibration.clone(),
                    index,
                    count,
                    process,
                    gate: request.gate,
                    task: task.clone(),
                };
                self.workload(&assignment)?;
            }
            self.progress(&task.id, index, count, task.processes - 1, "end")?;
        }
        drop(scratch);
        self.done()
    }

    fn done(&mut self) -> io::Result<()> {
        let (samples, errors) = (self.samples, self.errors);
        self.emitter.send(&Event::Done { samples, errors })
    }

    /// Waits until the experimenter lets a workload go on; whether it did. A wrong release is reported
    /// as the wrong request that it is; with the end of the input there is nobody to report to.
    fn released(&mut self, index: usize) -> io::Result<bool> {
        let mut input = io::stdin().lock();
        if input.fill_buf()?.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let wrong = match read_document::<Release>(input) {
            Ok(Release { release }) if release == index => return Ok(true),
            Ok(Release { release }) => {
                format!("workload {index} waits for its release, and {release} is released")
            }
            Err(reason) => reason,
        };
        self.errors += 1;
        self.emitter.send(&request_error(wrong))?;
        Ok(false)
    }

    /// Passes the release of a case or batch on to the worker that waits for it.
    fn let_go_on(&mut self, index: usize, worker: Option<&mut ChildStdin>) -> io::Result<()> {
        if !self.released(index)? {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let worker = worker.ok_or(io::ErrorKind::BrokenPipe)?;
        // A worker that has died is reported when its output ends.
        worker
            .write_all(&line_of(&Release { release: index })?)
            .ok();
        Ok(())
    }

    fn log(&mut self, level: &'static str, message: String) -> io::Result<()> {
        self.emitter.send(&Event::Log { level, message })
    }

    fn progress(
        &mut self,
        workload: &str,
        index: usize,
        count: usize,
        process: u32,
        state: &'static str,
    ) -> io::Result<()> {
        self.emitter.send(&Event::Progress {
            workload: workload.into(),
            index,
            count,
            process,
            state,
            case: None,
        })
    }

    fn workload(&mut self, assignment: &Assignment) -> io::Result<()> {
        let task = &assignment.task;
        self.progress(
            &task.id,
            assignment.index,
            assignment.count,
            assignment.process,
            "start",
        )?;
        let outcome = std::fs::create_dir_all(&assignment.scratch).and_then(|()| spawn(assignment));
        let failure = match outcome {
            Ok((child, group)) => self.follow(child, &group, assignment),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                Ok(Some((ErrorKind::Unsupported, error.to_string())))
            }
            Err(error) => Ok(Some((
                ErrorKind::Failed,
                format!("the worker process could not be started: {error}"),
            ))),
        };
        pentathlon_harness::clear(&assignment.scratch);
        remove_named(task, &assignment.scratch);
        if let Some((kind, reason)) = failure? {
            self.errors += 1;
            self.emitter.send(&Event::Error {
                workload: Some(task.id.clone()),
                index: Some(assignment.index),
                process: Some(assignment.process),
                kind,
                reason,
                case: None,
            })?;
        }
        Ok(())
    }

    /// Passes a worker's lines on until it ends; returns why it ended badly, if it did.
    fn follow(
        &mut self,
        mut child: Child,
        group: &Group,
        assignment: &Assignment,
    ) -> io::Result<Option<(ErrorKind, String)>> {
        let timeout_s = assignment.task.timeout_s;
        let mut deadline = clock::deadline_after(timeout_s);
        let mut input = child.stdin.take();
        let mut output = Output::new(child.stdout.take().expect("stdout is piped"));
        let mut timed_out = false;
        let mut listener = Ok(());
        loop {
            match output.next(deadline) {
                Next::Lines(passed) => {
                    let mut waits = false;
                    for line in passed.split_inclusive(|&byte| byte == b'\n') {
                        self.count(line);
                        // A worker that waits writes nothing more: this is its last line.
                        waits = line.starts_with(b"{\"event\":\"ready\"");
                    }
                    listener = self.emitter.pass(&passed);
                    if listener.is_ok() && waits {
                        let from = Instant::now();
                        listener = self.let_go_on(assignment.index, input.as_mut());
                        deadline += from.elapsed();
                    }
                    if listener.is_err() {
                        break;
                    }
                }
                Next::End => break,
                Next::Late => {
                    timed_out = true;
                    break;
                }
            }
        }
        if timed_out || listener.is_err() {
            group.kill();
        }
        let status = child.wait()?;
        if assignment.task.command.is_some() {
            // What a command started, if its worker could not end it.
            descendants::end(&[]);
        }
        output.close();
        listener?;
        if timed_out {
            return Ok(Some((
                ErrorKind::Timeout,
                format!("the workload took longer than its {timeout_s} s and was ended"),
            )));
        }
        Ok((!status.success()).then(|| {
            (
                ErrorKind::Failed,
                format!("the worker process died: {status}"),
            )
        }))
    }

    fn count(&mut self, line: &[u8]) {
        // Events begin with their kind, so the line need not be parsed.
        if [
            b"{\"event\":\"sample\"".as_slice(),
            b"{\"event\":\"histogram\"",
            b"{\"event\":\"execution\"",
        ]
        .iter()
        .any(|kind| line.starts_with(kind))
        {
            self.samples += 1;
        } else if line.starts_with(b"{\"event\":\"error\"") {
            self.errors += 1;
        }
    }
}

/// A message for a worker, to be written at once: where a system call is slow, as in user-mode Linux,
/// a write for each word of it would take longer than a batch.
fn line_of(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// What the system is made of; its graphics only where they are measured, since drivers take long
/// to load.
fn inventory(request: &Request, scratch: &Path) -> Value {
    let mut system = pentathlon_inventory::collect(scratch);
    if request.workloads.iter().any(|task| graphics::has(&task.id)) {
        system["graphics"] = graphics::inventory();
    }
    system
}

/// Removes what a disk workload that was killed left in a directory that the request named.
pub(super) fn remove_named(task: &Task, scratch: &Path) {
    let named = task.parameters.get("directory");
    if let Some(directory) = named.and_then(serde_json::Value::as_str) {
        if !directory.is_empty() {
            let path = pentathlon_harness::private_directory(Path::new(directory), scratch);
            std::fs::remove_dir_all(path).ok();
        }
    }
}

/// The program that has the workload: this very one, or the graphics program.
fn program_for(task: &Task) -> io::Result<PathBuf> {
    if task.command.is_none() && graphics::has(&task.id) && !graphics::is_this_program() {
        let absent = || io::Error::new(io::ErrorKind::Unsupported, graphics::absent());
        return graphics::locate().ok_or_else(absent);
    }
    own_program()
}

/// This program's file; where the system does not say it, as without `/proc`, by its name.
pub(super) fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe().or_else(|_| {
        let name = std::env::args_os().next().map(Into::into);
        name.ok_or_else(|| io::ErrorKind::NotFound.into())
    })
}

/// Starts a program in a process group of its own.
pub(super) fn spawn_in_group(mut command: Command) -> io::Result<(Child, Group)> {
    process::own_group(&mut command);
    let mut child = command.spawn()?;
    let group = Group::of(&child).inspect_err(|_| {
        child.kill().ok();
        child.wait().ok();
    })?;
    Ok((child, group))
}

/// Starts the workload's program as a worker, in a process group of its own.
pub(super) fn spawn(assignment: &Assignment) -> io::Result<(Child, Group)> {
    let mut command = Command::new(program_for(&assignment.task)?);
    command
        .arg("worker")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit());
    // Before it has its assignment, so that nothing that it starts can escape.
    let (mut child, group) = spawn_in_group(command)?;
    let mut input = child.stdin.take().expect("stdin is piped");
    input.write_all(&line_of(assignment)?)?;
    // A worker without a gate needs no more, and sees the end of its input.
    child.stdin = assignment.gate.is_some().then_some(input);
    Ok((child, group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line() {
        let line = line_of(&Release { release: 7 }).unwrap();
        assert_eq!(line, b"{\"release\":7}\n");
    }
}
