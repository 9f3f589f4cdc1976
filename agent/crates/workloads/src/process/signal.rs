//! `process.signal`: installing a handler, a signal to oneself, and signals between two processes.

use super::entry;
#[cfg(unix)]
use super::{calls, refusal};
use pentathlon_harness::measure::{Context, Failure};
#[cfg(unix)]
use pentathlon_os::child::{self, Child, Exit};
#[cfg(unix)]
use pentathlon_os::parent;
#[cfg(unix)]
use pentathlon_os::signal::{self, Blocked, Handler};
use pentathlon_protocol::catalog::{self, Factor, Parameter, Semantics};
#[cfg(unix)]
use pentathlon_protocol::Case;

pub struct Signal;

const KINDS: &[&str] = &["install", "handle", "between"];

impl pentathlon_harness::Workload for Signal {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.signal",
            title: "Signals",
            summary: "A handler is installed; or a process sends itself a signal that its handler \
                      counts; or two processes send each other a signal in turn and sleep until \
                      it comes.",
            source: "McVoy and Staelin 1996, lmbench lat_sig (install, catch)",
            parameters: vec![Parameter::texts_of("kind", KINDS).described(
                "install: sigaction; handle: kill to oneself and the handler; between: a round \
                 trip between two processes",
            )],
            factors: vec![Factor::category("kind", "kind")],
            metrics: entry::time("Time per installation, signal or round trip"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux:
                    "sigaction(2), each time of another handler, which the next call must return; \
                        kill(2) with SIGUSR1 to the process itself, which has one thread, so that \
                        the handler runs before the call returns; kill(2) and sigwait(3) of two \
                        processes on the CPUs that the placement gives",
                windows: "unsupported: there are no signals; process.event measures what wakes a \
                          thread there",
            },
        }
    }

    fn switches(&self) -> bool {
        true
    }

    fn buffers(&self) -> u8 {
        1
    }

    #[cfg(unix)]
    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        refusal::unless_single_threaded()?;
        for kind in context.parameters.clone().texts("kind") {
            let case = Case::new().with("kind", kind);
            let outcome = match kind {
                "install" => install(context, &case),
                "handle" => handle(context, &case),
                _ => between(context, &case),
            };
            signal::reset();
            if let Err(failure) = outcome {
                context.fail(Some(&case), &failure);
            }
        }
        Ok(())
    }

    #[cfg(not(unix))]
    fn run(&self, _context: &mut Context<'_>) -> Result<(), Failure> {
        Err(Failure::Unsupported(
            "this system has no signals; process.event measures what wakes a thread here".into(),
        ))
    }
}

#[cfg(unix)]
fn installed(handler: Handler) -> Result<Option<Handler>, Failure> {
    signal::install(handler).map_err(|e| Failure::system("sigaction", &e))
}

#[cfg(unix)]
fn install(context: &mut Context<'_>, case: &Case) -> Result<(), Failure> {
    let mut now = Handler::First;
    installed(now)?;
    let call = || {
        let next = match now {
            Handler::First => Handler::Second,
            Handler::Second => Handler::First,
        };
        let replaced = installed(next)?;
        let right = replaced == Some(now);
        now = next;
        Ok(right)
    };
    calls::measure(context, case, call);
    Ok(())
}

#[cfg(unix)]
fn handle(context: &mut Context<'_>, case: &Case) -> Result<(), Failure> {
    installed(Handler::First)?;
    let own = std::process::id();
    let call = || {
        let before = signal::handled();
        signal::send(own).map_err(|e| Failure::system("kill", &e))?;
        Ok(signal::handled() == before.wrapping_add(1))
    };
    calls::measure(context, case, call);
    Ok(())
}

#[cfg(unix)]
fn between(context: &mut Context<'_>, case: &Case) -> Result<(), Failure> {
    let echo = Echo::start()?;
    let call = || echo.trip().map(|()| true);
    calls::measure(context, case, call);
    echo.end()
}

/// The other process: it answers every signal with one.
#[cfg(unix)]
struct Echo {
    child: Child,
    /// Before the child, so that it inherits the mask and no signal ends it.
    blocked: Blocked,
}

#[cfg(unix)]
impl Echo {
    fn start() -> Result<Self, Failure> {
        let blocked = Blocked::new().map_err(|e| Failure::system("sigprocmask", &e))?;
        let parent = std::process::id();
        let child = child::fork(|| {
            parent::die_with_parent();
            loop {
                if blocked.wait().and_then(|()| signal::send(parent)).is_err() {
                    return 1;
                }
            }
        })
        .map_err(|e| refusal::of_fork(&e))?;
        Ok(Self { child, blocked })
    }

    /// A signal to the other process and one back. Every one is waited for, and a signal that is
    /// lost would end the batch in the time limit, so what returns was answered.
    #[inline(always)]
    fn trip(&self) -> Result<(), Failure> {
        signal::send(self.child.id()).map_err(|e| Failure::system("kill", &e))?;
        self.blocked
            .wait()
            .map_err(|e| Failure::system("sigwait", &e))
    }

    /// Ends the other process, which must still be there to answer.
    fn end(self) -> Result<(), Failure> {
        match self.child.kill() {
            Ok(Exit::Signal(libc::SIGKILL)) => Ok(()),
            Ok(exit) => Err(Failure::Failed(format!(
                "the process that answers signals ended with {exit:?}"
            ))),
            Err(error) => Err(Failure::system("waitpid", &error)),
        }
    }
}
