//! `process.pipe_round_trip`: a token from one process to another and back, over two pipes.

use super::calls;
use super::{entry, refusal};
#[cfg(windows)]
pub use echo::serve_standard;
use pentathlon_harness::measure::{Context, Failure};
use pentathlon_protocol::catalog::{self, Factor, Parameter, Semantics};
use pentathlon_protocol::Case;
use std::fs::File;
use std::io::{self, Read, Write};

#[cfg(unix)]
#[path = "echo_unix.rs"]
mod echo;
#[cfg(windows)]
#[path = "echo_windows.rs"]
mod echo;

pub struct PipeRoundTrip;

/// POSIX lets a pipe split anything above 512 bytes; Linux keeps 4096 whole (`pipe(7)`).
const LARGEST: u64 = 4096;

impl pentathlon_harness::Workload for PipeRoundTrip {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.pipe_round_trip",
            title: "Token over two pipes and back",
            summary: "A token goes to another process over one pipe and comes back, changed, over \
                      a second one; both processes sleep while they wait.",
            source: "McVoy and Staelin 1996, lmbench lat_pipe",
            parameters: vec![Parameter::integers("bytes", &[1])
                .unit("B")
                .limits(1.0, LARGEST as f64)
                .described("sizes of the token; lmbench's is 1")],
            factors: vec![Factor::bytes("bytes", "token size")],
            metrics: entry::time("Time per round trip"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux: "pipe2(2), read(2), write(2) between two processes on the CPUs that the \
                        placement gives: on one CPU two context switches a trip, on several also \
                        the wake-up of another CPU; every token is new and is checked",
                windows: "CreatePipe, ReadFile, WriteFile between this process and another one \
                          of the same program",
            },
        }
    }

    fn switches(&self) -> bool {
        true
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        refusal::unless_single_threaded()?;
        for bytes in context.parameters.integers("bytes") {
            let case = Case::new().with("bytes", bytes);
            let mut echo = match Echo::start(bytes as usize) {
                Ok(echo) => echo,
                Err(failure) => {
                    context.fail(Some(&case), &failure);
                    continue;
                }
            };
            let call = || echo.trip().map_err(|e| broken(&e));
            calls::measure(context, &case, call);
            if let Err(failure) = echo.end() {
                context.fail(Some(&case), &failure);
            }
        }
        Ok(())
    }
}

/// The other process, and what is sent to it.
struct Echo {
    to: File,
    from: File,
    other: echo::Process,
    turn: u8,
    token: Vec<u8>,
}

impl Echo {
    fn start(bytes: usize) -> Result<Self, Failure> {
        let (to, from, other) = echo::start(bytes)?;
        Ok(Self {
            to,
            from,
            other,
            turn: 0,
            token: vec![0; bytes],
        })
    }

    /// Sends a token that differs from the last one; returns whether the right answer came back.
    #[inline(always)]
    fn trip(&mut self) -> io::Result<bool> {
        self.turn = self.turn.wrapping_add(1);
        let last = self.token.len() - 1;
        self.token[0] = self.turn;
        self.token[last] = self.turn;
        self.to.write_all(&self.token)?;
        self.from.read_exact(&mut self.token)?;
        Ok(self.token[0] == !self.turn && self.token[last] == !self.turn)
    }

    /// Closes the pipes, which ends the other process.
    fn end(self) -> Result<(), Failure> {
        drop((self.to, self.from));
        match echo::wait(self.other) {
            Ok(None) => Ok(()),
            Ok(Some(exit)) => Err(Failure::Failed(format!(
                "the process at the other end of the pipes ended with {exit}"
            ))),
            Err(error) => Err(Failure::system("waiting for the other process", &error)),
        }
    }
}

/// The other process: answers every token until the pipe is closed.
fn serve(input: &mut File, output: &mut File, token: &mut [u8]) -> io::Result<()> {
    let last = token.len() - 1;
    loop {
        match input.read_exact(token) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
        let answer = !token[0];
        token[0] = answer;
        token[last] = answer;
        output.write_all(token)?;
    }
}

#[cold]
fn broken(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => {
            Failure::Failed("the process at the other end of the pipes is gone".into())
        }
        _ => Failure::system("a pipe", error),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use pentathlon_os::{child, descriptor};
    use std::sync::{Mutex, PoisonError};

    /// The test runner has threads: a copy made by one test would hold the pipes of another open.
    static ALONE: Mutex<()> = Mutex::new(());

    #[test]
    fn every_token_comes_back_changed() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        for bytes in [1, 2, 4096] {
            let mut echo = Echo::start(bytes).unwrap();
            for _ in 0..600 {
                assert!(echo.trip().unwrap(), "{bytes}");
            }
            assert_eq!(echo.end(), Ok(()));
        }
    }

    #[test]
    fn a_token_that_comes_back_as_it_was_is_wrong() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let (from, to) = descriptor::pipe().unwrap();
        let mut looped = Echo {
            to,
            from,
            other: child::fork(|| 0).unwrap(),
            turn: 0,
            token: vec![0; 1],
        };
        assert!(!looped.trip().unwrap());
    }

    #[test]
    fn a_process_that_is_gone_is_named() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let Echo {
            to, from, other, ..
        } = Echo::start(1).unwrap();
        drop(other);
        let mut echo = Echo {
            to,
            from,
            other: child::fork(|| 0).unwrap(),
            turn: 0,
            token: vec![0; 1],
        };
        let failure = broken(&echo.trip().unwrap_err());
        assert!(
            matches!(failure, Failure::Failed(ref s) if s.contains("gone")),
            "{failure:?}"
        );
    }
}
