//! One run of one program: started without a shell, with nothing at its standard input, timed from
//! before its start to when its end is known, and ended with everything that it started.

use super::capture::{self, Capture};
use super::ready::Ready;
use super::warm::Warm;
use super::watch::{Watch, Why};
use super::{environment, program};
use pentathlon_harness::clock::{monotonic_ns, Clock};
use pentathlon_harness::measure::{Accounts, Failure};
use pentathlon_os::accounted::{self, Accounted, Ending};
use pentathlon_os::descendants;
use pentathlon_os::process::{own_group, Group};
use pentathlon_protocol::command::{Command, KEPT_ERROR, KEPT_OUTPUT, MOST_OUTPUT};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// How long programs that were started may go on by themselves after the one that started them.
const MOMENT: Duration = Duration::from_millis(100);
const LOOK: Duration = Duration::from_millis(2);

/// What is to become of what a program leaves running.
#[derive(Clone, Copy)]
pub enum After<'a> {
    /// It is ended, but for these processes, which were there before.
    End(&'a [u32]),
    /// It stays, as a server does; what the program and it write goes to this file.
    Stay(&'a Path),
}

/// What a run that counts needs besides.
#[derive(Clone, Copy)]
pub struct Timed<'a> {
    pub clock: &'a Clock,
    pub warm: &'a Warm,
}

/// A run that has ended.
pub struct Done {
    pub wall_ns: f64,
    pub accounts: Accounts,
    pub output: (String, u64),
    pub error: (String, u64),
    /// What stays running is held together by this.
    pub group: Option<Group>,
    /// Names of what it left running, which was ended.
    left: Vec<String>,
    ending: Ending,
    why: Option<Why>,
    /// A file beyond the limit, which ended one of its programs and not the one that was started.
    too_large: Option<PathBuf>,
}

/// Runs a program to its end in `directory`, which becomes this process's own.
pub fn one(
    directory: &Path,
    words: &[String],
    of: &Command,
    after: After<'_>,
    timed: Option<Timed<'_>>,
) -> Result<Done, Failure> {
    std::env::set_current_dir(directory)
        .map_err(|error| Failure::system("entering the directory of a run", &error))?;
    let program = program::find(directory, words)?;
    let watch = Watch::default();
    let mut command = std::process::Command::new(&program);
    command
        .args(&words[1..])
        .env_clear()
        .envs(environment::of(directory))
        .stdin(Stdio::null());
    program::name(&mut command, &words[0]);
    own_group(&mut command);
    let (ready, others) = Ready::new();
    let streams = Streams::of(&mut command, after, &watch, &ready)
        .map_err(|error| Failure::system("a place for the output of a command", &error))?;
    let limit = watch.limit(Duration::from_secs_f64(of.timeout_s), directory, ready);
    others.wait();
    let clock = timed.map(|timed| {
        timed.warm.up();
        timed.clock
    });

    let from = clock.map_or_else(monotonic_ns, Clock::ticks);
    let ended = command.spawn().and_then(|child| {
        watch.began(child.id(), Group::of(&child).ok());
        accounted::await_end(&child)?;
        Ok(child)
    });
    let to = clock.map_or_else(monotonic_ns, Clock::ticks);

    // Its ends of the pipes would keep the readers waiting.
    drop(command);
    let (why, group) = watch.over();
    limit.join().ok();
    let mut left = Vec::new();
    let ends = matches!(after, After::End(_));
    // Where descendants cannot be found, this is what reaches them; its number is free once the
    // program is collected.
    if let Some(group) = group.as_ref().filter(|_| ends && !descendants::are_found()) {
        group.kill();
    }
    let collected = ended.and_then(accounted::collect);
    if let After::End(kept) = after {
        // Most programs leave nobody, and after these every process of the machine need not be read.
        if !descendants::none() {
            left = leaves(kept);
            descendants::end(kept);
        }
    }
    let (output, error) = streams.finish();
    let (ending, used) =
        collected.map_err(|error| program::refused(&program, &words[0], &error))?;
    let too_large = match ending {
        Ending::Code(_) if cfg!(unix) => super::directory::larger(directory, of.largest_file_bytes),
        _ => None,
    };
    Ok(Done {
        wall_ns: clock.map_or((to - from) as f64, |clock| clock.elapsed_ns(from, to)),
        accounts: accounts(&used),
        output,
        error,
        group,
        left,
        ending,
        why,
        too_large,
    })
}

/// Names of the processes that are left running; some need a moment to end by themselves.
fn leaves(kept: &[u32]) -> Vec<String> {
    let until = Instant::now() + MOMENT;
    loop {
        let living = descendants::living(kept);
        if living.is_empty() || Instant::now() >= until {
            return living.into_iter().map(|(_, name)| name).collect();
        }
        std::thread::sleep(LOOK);
    }
}

/// Where a program's output goes.
enum Streams {
    Pipes(Capture, Capture),
    File(PathBuf),
}

impl Streams {
    fn of(
        command: &mut std::process::Command,
        after: After<'_>,
        watch: &Watch,
        ready: &Ready,
    ) -> io::Result<Self> {
        if let After::Stay(path) = after {
            let file = std::fs::File::create(path)?;
            command.stdout(file.try_clone()?).stderr(file);
            return Ok(Self::File(path.into()));
        }
        let flooded = || {
            let watch = watch.clone();
            move || watch.end(Why::WroteTooMuch)
        };
        let (out, output) = io::pipe()?;
        let (err, error) = io::pipe()?;
        command.stdout(output).stderr(error);
        Ok(Self::Pipes(
            Capture::start(out, KEPT_OUTPUT, flooded(), ready.clone()),
            Capture::start(err, KEPT_ERROR, flooded(), ready.clone()),
        ))
    }

    /// The end of both, and how many bytes there were.
    fn finish(self) -> ((String, u64), (String, u64)) {
        match self {
            Self::Pipes(output, error) => (output.finish(), error.finish()),
            Self::File(path) => (
                (String::new(), 0),
                capture::end_of(&path, KEPT_ERROR).unwrap_or_default(),
            ),
        }
    }
}

#[cfg(unix)]
fn accounts(used: &Accounted) -> Accounts {
    let usage = &used.usage;
    Accounts {
        user_ns: Some(usage.user_ns),
        system_ns: Some(usage.system_ns),
        minor_faults: Some(usage.minor_faults),
        major_faults: Some(usage.major_faults),
        voluntary_switches: Some(usage.voluntary_switches),
        involuntary_switches: Some(usage.involuntary_switches),
        // gVisor keeps none.
        peak_memory_bytes: Some(used.peak_memory_bytes).filter(|bytes| *bytes > 0),
    }
}

/// Windows counts faults of both kinds as one, and no switches.
#[cfg(windows)]
fn accounts(used: &Accounted) -> Accounts {
    Accounts {
        user_ns: Some(used.usage.user_ns),
        system_ns: Some(used.usage.kernel_ns),
        peak_memory_bytes: Some(used.peak_memory_bytes),
        ..Accounts::default()
    }
}

impl Done {
    /// Its exit status, whatever that is. A program that had to be ended, or left others running, has
    /// none.
    pub fn status(&self, what: &str, words: &[String], of: &Command) -> Result<i32, Failure> {
        let stated = || self.last_words();
        let name = shown(words);
        match (self.why, self.ending) {
            (Some(Why::TookTooLong), _) => Err(Failure::Timeout(format!(
                "{what} {name} took longer than its {} s and was ended; nothing answers at its \
                 standard input{}",
                of.timeout_s,
                stated()
            ))),
            (Some(Why::WroteTooMuch), _) => Err(Failure::Failed(format!(
                "{what} {name} wrote more than {} MiB to its output and was ended{}",
                MOST_OUTPUT >> 20,
                stated()
            ))),
            (Some(Why::FilledTheDisk), _) => Err(Failure::Failed(format!(
                "{what} {name} had almost filled the disk of its directory and was ended{}",
                stated()
            ))),
            (None, Ending::Signal(accounted::FILE_TOO_LARGE)) => Err(Failure::Failed(format!(
                "{what} {name} wrote a file of more than {} MiB and was ended; largest_file of the \
                 workload says how large its files may be{}",
                of.largest_file_bytes >> 20,
                stated()
            ))),
            (None, Ending::Code(_)) if self.too_large.is_some() => Err(Failure::Failed(format!(
                "{what} {name} wrote a file of more than {} MiB ({}), and a program that it started \
                 was ended; largest_file of the workload says how large its files may be{}",
                of.largest_file_bytes >> 20,
                visible(&self.too_large.as_deref().unwrap_or(Path::new("")).to_string_lossy()),
                stated()
            ))),
            (None, Ending::Signal(signal)) => Err(Failure::Failed(format!(
                "{what} {name} was ended by signal {signal} ({}){}",
                accounted::signal_name(signal),
                stated()
            ))),
            (None, Ending::Code(status)) => match self.left.first() {
                None => Ok(status),
                Some(first) => Err(Failure::Failed(format!(
                    "{what} {name} ended and left {} running ({}), now ended too; it has to wait \
                     for what it starts",
                    match self.left.len() {
                        1 => "a process".into(),
                        count => format!("{count} processes"),
                    },
                    visible(first),
                ))),
            },
        }
    }

    /// That it ended with the exit status 0.
    pub fn succeeded(&self, what: &str, words: &[String], of: &Command) -> Result<(), Failure> {
        let status = self.status(what, words, of)?;
        if status == 0 {
            return Ok(());
        }
        if let Some(lacks) = program::lacks(status, &self.error.0) {
            return Err(Failure::Unsupported(format!(
                "{what} {} does not start: {lacks}",
                shown(words)
            )));
        }
        Err(Failure::Failed(format!(
            "{what} {} ended with the exit status {status}{}",
            shown(words),
            self.last_words()
        )))
    }

    /// The last lines that it wrote, as the end of a sentence.
    fn last_words(&self) -> String {
        let wrote = if self.error.0.trim().is_empty() {
            &self.output.0
        } else {
            &self.error.0
        };
        let lines: Vec<_> = wrote
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        if lines.is_empty() {
            return "; it wrote nothing".into();
        }
        let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
        let last: Vec<_> = last.iter().map(|line| visible(line)).collect();
        format!("; its last lines: {}", last.join(" | "))
    }
}

const LAST_LINES: usize = 5;
const LONGEST_LINE: usize = 200;

/// A program with its arguments, for a sentence.
pub fn shown(words: &[String]) -> String {
    let all: Vec<_> = words.iter().map(|word| visible(word)).collect();
    format!("\"{}\"", visible(&all.join(" ")))
}

/// A text on one line, of a bounded length, with its control characters written out.
pub fn visible(text: &str) -> String {
    let mut line = String::new();
    for (place, character) in text.trim_end().chars().enumerate() {
        if place == LONGEST_LINE {
            line.push('…');
            break;
        }
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}
