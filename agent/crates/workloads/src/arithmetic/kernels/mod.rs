//! The timed loops of arithmetic.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use super::operation::{Kind, Operation};

/// Chains of the widest loop.
pub const CHAINS: usize = 12;
/// Where the loops that divide integers add up their quotients.
pub const QUOTIENTS: usize = CHAINS;
/// The numbers of all chains as bits, the short ones in the low half; the last is [`QUOTIENTS`].
pub type State = [u64; CHAINS + 1];

/// Takes the chains so many blocks further, with these operands.
pub type Kernel = fn(&mut State, [u64; 2], u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rate {
    /// Independent chains side by side.
    Throughput,
    /// One chain, each operation on the result of the one before.
    Latency,
}

/// Steps of a chain in one block. Twice an odd number: a chain of multiplications or divisions
/// that turns its sign every two steps then ends an odd number of blocks with its sign turned.
const STEPS_INTEGERS: u64 = 50;
const STEPS_FLOATS: u64 = 34;
const STEPS_LATENCY: u64 = 102;

/// Chains that a loop uses: as many as hide the latency and fit the registers. Additions need more
/// than the five that a processor with five adders seems to: it does not spread them evenly.
pub const fn chains(operation: Operation, kind: Kind, rate: Rate) -> usize {
    match (rate, operation, kind) {
        (Rate::Latency, _, _) => 1,
        (Rate::Throughput, _, Kind::F32 | Kind::F64) => CHAINS,
        // Division has registers of its own.
        (Rate::Throughput, Operation::Divide, _) => 8,
        (Rate::Throughput, _, _) => 10,
    }
}

/// Steps that each chain takes in one block.
pub const fn steps(kind: Kind, rate: Rate) -> u64 {
    match (rate, kind) {
        (Rate::Latency, _) => STEPS_LATENCY,
        (Rate::Throughput, Kind::I32 | Kind::I64) => STEPS_INTEGERS,
        (Rate::Throughput, Kind::F32 | Kind::F64) => STEPS_FLOATS,
    }
}

/// Operations in one block.
pub const fn per_block(operation: Operation, kind: Kind, rate: Rate) -> u64 {
    chains(operation, kind, rate) as u64 * steps(kind, rate)
}

#[cfg(target_arch = "x86_64")]
mod best {
    pub use super::x86_64::{kernel, NAME};
}
#[cfg(target_arch = "aarch64")]
mod best {
    pub use super::aarch64::{kernel, NAME};
}
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod best {
    pub use super::portable::{kernel, NAME};
}
/// The loop of a case, and what the loops are made of.
pub use best::{kernel, NAME};

/// The loop of a case in plain Rust.
pub fn portable(operation: Operation, kind: Kind, rate: Rate) -> Kernel {
    portable::kernel(operation, kind, rate)
}
