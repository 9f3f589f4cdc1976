//! The process at the other end of the pipes: a copy of this one.

use super::super::refusal;
use super::serve;
use pentathlon_harness::measure::Failure;
use pentathlon_os::child::{self, Child, Exit};
use pentathlon_os::descriptor;
use pentathlon_os::parent;
use std::fs::File;
use std::io;

pub type Process = Child;

/// Starts it; the end to write to, the end to read from, and the process.
pub fn start(bytes: usize) -> Result<(File, File, Process), Failure> {
    let pipe = || descriptor::pipe().map_err(|e| Failure::system("making a pipe", &e));
    let (mut input, to) = pipe()?;
    let (from, mut output) = pipe()?;
    let mut token = vec![0; bytes];
    let mut ends = Some((to, from));
    let child = child::fork(|| {
        parent::die_with_parent();
        // The copies of the parent's ends would keep the pipes open for ever.
        drop(ends.take());
        u8::from(serve(&mut input, &mut output, &mut token).is_err())
    })
    .map_err(|e| refusal::of_fork(&e))?;
    let (to, from) = ends.expect("only the child's copy was taken");
    Ok((to, from, child))
}

/// Waits for its end; how it ended, unless well.
pub fn wait(process: Process) -> io::Result<Option<String>> {
    match process.wait()? {
        Exit::Code(0) => Ok(None),
        exit => Ok(Some(format!("{exit:?}"))),
    }
}
