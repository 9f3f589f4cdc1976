//! System calls and processes (Venkatasubramanian 2003, section 5): what a call into the kernel,
//! the allocator, a file and a process cost, in ns per call. The paper's millions of calls per
//! second are 1000 / ns.

mod call_styles;
mod calls;
mod create_delete;
mod directory;
mod entry;
mod fopen_fclose;
mod fork_exec;
mod fork_wait;
mod getpid;
mod malloc_free;
mod open_close;
mod pipe_round_trip;
mod program;
mod program_pe;
mod refusal;

use super::Workload;
#[cfg(windows)]
pub use pipe_round_trip::serve_standard as echo;

pub const WORKLOADS: &[&dyn Workload] = &[
    &getpid::Getpid,
    &malloc_free::MallocFree,
    &fopen_fclose::FopenFclose,
    &open_close::OpenClose,
    &create_delete::CreateDelete,
    &fork_wait::ForkWait,
    &fork_exec::ForkExec,
    &pipe_round_trip::PipeRoundTrip,
    &call_styles::CallStyles,
];
