//! The transmit backend `live`: frames that an XDP program makes and paces in the kernel, which runs it
//! without rest (`BPF_PROG_TEST_RUN` with live frames, Linux 5.18), and a receiver in an XDP
//! program. Neither sender's nor receiver's socket layer takes part.

mod age;
mod assembler;
pub(crate) mod programs;
pub(crate) mod readers;
mod receiver;
mod sender;

pub(crate) use receiver::interface_of;
pub use receiver::{open_for_frames, XdpRx};
pub use sender::{Cpus, LiveTx};

use super::tx::unsupported;
use super::Timer;
use std::io;

/// The kernel's clock, which programs read, less the endpoint's, ns. The two are read one after
/// the other three times, and the closest pair counts.
pub(crate) fn clock_offset(timer: &Timer) -> u64 {
    (0..3)
        .map(|_| {
            let before = timer.now_ns();
            let kernel = pentathlon_harness::clock::monotonic_ns();
            let after = timer.now_ns();
            (after - before, kernel.wrapping_sub(before.midpoint(after)))
        })
        .min()
        .expect("three pairs")
        .1
}

/// Says that the kernel refuses `what`, and why.
pub(crate) fn refused(what: &str) -> impl Fn(io::Error) -> io::Error + '_ {
    move |error| unsupported(format!("the kernel refuses {what}: {error}"))
}

pub(crate) fn check_order_of_bytes() -> io::Result<()> {
    if cfg!(target_endian = "little") {
        Ok(())
    } else {
        Err(unsupported(
            "the programs of this transmit backend are written for little-endian machines",
        ))
    }
}
