//! The program itself, driven as an experimenter drives it: over its standard input and output. One
//! program of tests, so that it is linked once.

mod checker;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod clock;
#[cfg(unix)]
mod command;
mod computation;
mod disk;
#[cfg(unix)]
mod guard;
mod inventory;
#[cfg(target_os = "linux")]
mod process;
mod schema;
mod session;
