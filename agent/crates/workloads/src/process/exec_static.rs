//! `process.exec_static`: starting a static program of ordinary size, by fork and by posix_spawn.

use super::calls;
use super::entry;
#[cfg(unix)]
use super::refusal;
use pentathlon_harness::measure::{Context, Failure};
use pentathlon_harness::{EXIT_STATUS, EXIT_VERB};
#[cfg(unix)]
use pentathlon_os::child::{self, Child, Exit};
use pentathlon_protocol::catalog::{self, Factor, Parameter, Semantics};
use pentathlon_protocol::Case;
#[cfg(unix)]
use std::ffi::{CStr, CString};
#[cfg(unix)]
use std::io;

pub struct ExecStatic;

const STARTS: &[&str] = &["fork", "posix_spawn"];

impl pentathlon_harness::Workload for ExecStatic {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.exec_static",
            title: "Start of a static program",
            summary: "A static program with a C library, the agent itself, is started with an \
                      argument that lets it end at once; its end is waited for. What it costs \
                      beyond process.fork_exec, whose program has 188 bytes, is the program's.",
            source: "McVoy and Staelin 1996, lmbench lat_proc exec; POSIX.1-2017, posix_spawn",
            parameters: vec![Parameter::texts_of("start", STARTS).described(
                "fork: fork and execve; posix_spawn: by the C library, which copies no page tables \
                 (vfork)",
            )],
            factors: vec![Factor::category("start", "started by")],
            metrics: entry::time("Time per start, exit and wait"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux:
                    "fork(3) and execve(2), or posix_spawn(3), of the agent's own file (static, \
                        relocates itself, no dynamic linker, empty environment), exit, waitpid(2); \
                        the status of every child is checked",
                windows: "CreateProcess of the agent's own file, WaitForSingleObject, \
                          GetExitCodeProcess; fork is unsupported: there is none",
            },
        }
    }

    fn switches(&self) -> bool {
        true
    }

    #[cfg(unix)]
    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        use std::os::unix::ffi::OsStringExt;
        refusal::unless_single_threaded()?;
        let program = std::env::current_exe()
            .or_else(|_| {
                let first = std::env::args_os().next();
                first.map(Into::into).ok_or(io::ErrorKind::NotFound.into())
            })
            .and_then(|path| Ok(CString::new(path.into_os_string().into_vec())?))
            .map_err(|e| Failure::system("finding the agent's own file", &e))?;
        let verb = CString::new(EXIT_VERB).expect("a word without a zero");
        for start in context.parameters.clone().texts("start") {
            let by = if start == "fork" { forked } else { spawned };
            let case = Case::new().with("start", start);
            calls::measure(context, &case, || ends_well(by(&program, &verb)?));
        }
        Ok(())
    }

    #[cfg(windows)]
    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let program = std::env::current_exe()
            .map_err(|e| Failure::system("finding the agent's own file", &e))?;
        for start in context.parameters.clone().texts("start") {
            let case = Case::new().with("start", start);
            if start == "fork" {
                let reason = "Windows has no fork; posix_spawn stands for CreateProcess".into();
                context.fail(Some(&case), &Failure::Unsupported(reason));
                continue;
            }
            calls::measure(context, &case, || created(&program));
        }
        Ok(())
    }
}

/// CreateProcess and WaitForSingleObject by the standard library.
#[cfg(windows)]
fn created(program: &std::path::Path) -> Result<bool, Failure> {
    let status = std::process::Command::new(program)
        .arg(EXIT_VERB)
        .stdin(std::process::Stdio::null())
        .status()
        .map_err(|e| Failure::system("CreateProcess", &e))?;
    if status.code() == Some(i32::from(EXIT_STATUS)) {
        return Ok(true);
    }
    Err(Failure::Failed(format!(
        "the started agent should end with status {EXIT_STATUS} and ended with {status}"
    )))
}

#[cfg(unix)]
#[inline(always)]
fn forked(program: &CStr, argument: &CStr) -> Result<Child, Failure> {
    child::fork(|| {
        // Returns only if the program could not be executed.
        let failed = child::execute_with(program, argument).map(|never| match never {});
        let number = failed.err().and_then(|error| error.raw_os_error());
        number.and_then(|n| u8::try_from(n).ok()).unwrap_or(u8::MAX)
    })
    .map_err(|e| refusal::of_fork(&e))
}

#[cfg(unix)]
#[inline(always)]
fn spawned(program: &CStr, argument: &CStr) -> Result<Child, Failure> {
    child::spawn_with(program, argument).map_err(|e| Failure::system("posix_spawn", &e))
}

#[cfg(unix)]
#[inline(always)]
fn ends_well(child: Child) -> Result<bool, Failure> {
    match child.wait() {
        Ok(Exit::Code(code)) if code == i32::from(EXIT_STATUS) => Ok(true),
        Ok(exit) => Err(Failure::Failed(format!(
            "the started agent should end with status {EXIT_STATUS} and ended with {exit:?}"
        ))),
        Err(error) => Err(Failure::system("waitpid", &error)),
    }
}
