//! The workloads of system calls and processes, run as an experimenter runs them: by the program
//! itself, whose worker has one thread, as fork needs it.

mod driver;
mod refusals;
mod results;
mod termination;
