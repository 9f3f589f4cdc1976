//! One host of a test between hosts. The endpoint reads commands from standard input, one JSON
//! document a line, and answers with events on standard output. It opens no control port: who
//! holds its standard input and output drives it, and only data sockets are opened.

mod answer;
mod captures;
mod clock_step;
mod command;
mod host;
#[cfg(all(test, target_os = "linux"))]
mod hostile;
mod jobs;
mod kernel;
mod link;
mod meter;
mod program;
mod router;
mod trial;

use answer::TimerSource;
pub use answer::{Answer, Answered};
use captures::Captures;
pub use command::Command;
use jobs::Jobs;
use pentathlon_harness::clock::calibrate;
use pentathlon_harness::Scratch;
use pentathlon_packets::Timer;
use pentathlon_protocol::ErrorKind;
use router::Router;
use std::io::{self, BufRead, Read, Write};
use std::path::Path;
use trial::{Refusal, Trials};

/// Serves commands until `quit` or the end of the input. Returns the exit status.
pub fn serve() -> i32 {
    let calibration = calibrate();
    let scratch = match Scratch::new(None) {
        Ok(scratch) => scratch,
        Err(error) => {
            eprintln!("pentathlon-agent endpoint: no scratch directory could be made: {error}");
            return 2;
        }
    };
    let timer = Timer::start(&calibration);
    let mut out = Output { timer };
    let (epoch, tick_ns) = timer.counter();
    let mut trials = Trials::new(timer, scratch.path().to_path_buf());
    let mut jobs = Jobs::new(calibration.clone(), timer, scratch.path().to_path_buf());
    let mut router = Router::default();
    let mut captures = Captures::new(scratch.path().to_path_buf());
    let opening = Answer::Endpoint {
        agent: Box::new(pentathlon_session::build::this()),
        clock: Box::new(calibration.clone()),
        kernel: host::kernel(),
        timer: TimerSource {
            source: calibration.source,
            epoch,
            tick_ns,
        },
    };
    if out.event(&opening).is_err() {
        return 1;
    }
    let mut input = io::stdin().lock();
    loop {
        let line = match command_line(&mut input) {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(error) => {
                // What follows in the line cannot be distinguished from a command.
                let reason = error.to_string();
                out.failure(None, &reason.into()).ok();
                return 1;
            }
        };
        if line.trim().is_empty() {
            continue;
        }
        let command = serde_json::from_str::<Command>(&line)
            .map_err(|error| error.to_string())
            .and_then(|command| command.check().map(|()| command));
        let answered = match command {
            Ok(Command::Quit {}) => break,
            Ok(Command::Listen(listen)) => out.of_trial(&listen.trial, trials.listen(&listen)),
            Ok(Command::Send(send)) => out.of_trial(&send.trial, trials.send(&send)),
            Ok(Command::Finish { trial, quiet_ms }) => {
                out.of_trial(&trial, trials.finish(&trial, quiet_ms))
            }
            Ok(Command::Fetch { trial }) => out.records(&trial, trials.take_records(&trial)),
            Ok(Command::Address {
                interface,
                addresses,
            }) => out.of_trial(
                "",
                link::address(&interface, &addresses).map_err(Refusal::from),
            ),
            Ok(Command::Start { job, what }) => out.answer(jobs.start(&job, what)),
            Ok(Command::Order { job, order }) => out.answer(jobs.order(&job, order)),
            Ok(Command::Stop { job }) => out.answer(jobs.stop(&job)),
            Ok(Command::Clock { after_ms, to_ns }) => out.answer(clock_step::set(after_ms, to_ns)),
            Ok(Command::Forward { on }) => out.reply(router.forward(on)),
            Ok(Command::Tune(tuning)) => out.reply(router.tune(&tuning)),
            Ok(Command::Capture { trial, interface }) => {
                out.answer(captures.start(&trial, &interface))
            }
            Ok(Command::Captured { trial }) => {
                let outcome = captures.stop(&trial);
                out.answer(outcome.map(|(event, file)| {
                    trials.add_records(&trial, file);
                    event
                }))
            }
            Ok(Command::Set { values }) => out.answer(kernel::set(&values)),
            Ok(Command::Perform { program, timeout_s }) => {
                out.answer(program::perform(&program, timeout_s))
            }
            Err(error) => {
                let reason = format!("the command is not right: {error}");
                out.failure(None, &reason.into())
            }
        };
        if answered.is_err() {
            return 1;
        }
    }
    i32::from(
        out.event(&Answer::Done {
            samples: 0,
            errors: 0,
        })
        .is_err(),
    )
}

/// Longest command, in bytes; the largest holds the input of a program.
const LONGEST_COMMAND: u64 = 64 << 20;

/// The next line; `None` at the end of the input.
fn command_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    input
        .by_ref()
        .take(LONGEST_COMMAND + 1)
        .read_until(b'\n', &mut line)?;
    if line.len() as u64 > LONGEST_COMMAND {
        return Err(io::Error::other(format!(
            "the command is longer than {LONGEST_COMMAND} bytes, the most that is read"
        )));
    }
    let text = String::from_utf8(line)
        .map_err(|_| io::Error::other("the command is not right: it is no UTF-8"))?;
    Ok((!text.is_empty()).then_some(text))
}

/// Standard output: events as lines, and records as bytes after the line that announces them.
struct Output {
    /// All times of an endpoint are its timer's, those of its events too.
    timer: Timer,
}

impl Output {
    fn event(&mut self, answer: &Answer) -> io::Result<()> {
        let t_ns = self.timer.now_ns();
        let mut out = io::stdout().lock();
        serde_json::to_writer(&mut out, &Answered { answer, t_ns })?;
        out.write_all(b"\n")?;
        out.flush()
    }

    /// The answer to a command that belongs to a trial.
    fn of_trial(&mut self, trial: &str, outcome: Result<Answer, Refusal>) -> io::Result<()> {
        match outcome {
            Ok(answer) => self.event(&answer),
            Err(refusal) => self.failure(Some(trial), &refusal),
        }
    }

    /// The answer to a command that belongs to no trial.
    fn answer(&mut self, outcome: Result<Answer, String>) -> io::Result<()> {
        self.reply(outcome.map_err(Refusal::from))
    }

    /// As [`Self::answer`], where the system may lack what was requested.
    fn reply(&mut self, outcome: Result<Answer, Refusal>) -> io::Result<()> {
        match outcome {
            Ok(answer) => self.event(&answer),
            Err(refusal) => self.failure(None, &refusal),
        }
    }

    fn failure(&mut self, trial: Option<&str>, refusal: &Refusal) -> io::Result<()> {
        let kind = if refusal.unsupported {
            ErrorKind::Unsupported
        } else {
            ErrorKind::Failed
        };
        self.event(&Answer::Error {
            kind,
            trial: trial.map(str::to_owned),
            reason: refusal.reason.clone(),
        })
    }

    /// One `records` event with its bytes for each file, then `fetched`.
    fn records(&mut self, trial: &str, files: Vec<trial::File>) -> io::Result<()> {
        let count = files.len();
        for file in files {
            self.file(trial, &file)?;
            std::fs::remove_file(&file.path).ok();
        }
        self.event(&Answer::Fetched {
            trial: trial.to_owned(),
            files: count,
        })
    }

    fn file(&mut self, trial: &str, file: &trial::File) -> io::Result<()> {
        let bytes = std::fs::metadata(&file.path)?.len();
        self.event(&Answer::Records {
            trial: trial.to_owned(),
            flow: file.flow,
            kind: file.kind,
            bytes,
        })?;
        copy(&file.path, bytes)
    }
}

fn copy(path: &Path, bytes: u64) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let mut file = std::fs::File::open(path)?.take(bytes);
    io::copy(&mut file, &mut out)?;
    out.flush()
}
