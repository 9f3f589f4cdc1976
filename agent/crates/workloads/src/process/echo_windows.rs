//! The process at the other end of the pipes: this program again, with the verb `echo`.

use super::serve;
use pentathlon_harness::measure::Failure;
use std::fs::File;
use std::io;
use std::os::windows::io::{AsHandle, OwnedHandle};
use std::process::{Child, Command, Stdio};

/// Ended when it is dropped without being waited for.
pub struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Starts it; the end to write to, the end to read from, and the process.
pub fn start(bytes: usize) -> Result<(File, File, Process), Failure> {
    let pipe = || io::pipe().map_err(|e| Failure::system("making a pipe", &e));
    let (input, to) = pipe()?;
    let (from, output) = pipe()?;
    let child = std::env::current_exe()
        .and_then(|program| {
            Command::new(program)
                .args(["echo", &bytes.to_string()])
                .stdin(input)
                .stdout(output)
                .stderr(Stdio::inherit())
                .spawn()
        })
        .map_err(|e| Failure::system("starting the other process", &e))?;
    Ok((
        File::from(OwnedHandle::from(to)),
        File::from(OwnedHandle::from(from)),
        Process(child),
    ))
}

/// Waits for its end; how it ended, unless well.
pub fn wait(mut process: Process) -> io::Result<Option<String>> {
    let status = process.0.wait()?;
    Ok((!status.success()).then(|| status.to_string()))
}

/// The verb `echo`: answers every token of `bytes` on standard input until that is closed.
pub fn serve_standard(bytes: usize) -> io::Result<()> {
    // Without the standard library's buffers, which look for a console at every call.
    let mut input = File::from(io::stdin().as_handle().try_clone_to_owned()?);
    let mut output = File::from(io::stdout().as_handle().try_clone_to_owned()?);
    serve(&mut input, &mut output, &mut vec![0; bytes])
}
