//! System calls and processes (venkata2003 §5): what a call into the kernel,
//! the allocator, a file and a process cost, in ns per call. The paper's millions of calls per
//! second are 1000 / ns.

mod call_styles;
mod calls;
mod condition;
mod create_delete;
mod directory;
mod entry;
mod event;
mod exec_static;
mod fopen_fclose;
mod fork_exec;
mod fork_wait;
mod futex;
mod getpid;
mod malloc_free;
mod mmap_munmap;
mod open_close;
mod page_fault;
mod pipe_round_trip;
pub(crate) mod program;
mod program_pe;
mod refusal;
mod signal;
mod thread;

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
    &exec_static::ExecStatic,
    &thread::Thread,
    &pipe_round_trip::PipeRoundTrip,
    &signal::Signal,
    &futex::Futex,
    &condition::Condition,
    &mmap_munmap::MmapMunmap,
    &page_fault::PageFault,
    &event::EventTrip,
    &call_styles::CallStyles,
];
