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

/// So many blocks, each of so many times the steps; `before` and `after` run once.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! blocks {
    ($times:literal;
     $(before: [$($before:expr),* $(,)?],)?
     steps: [$($steps:expr),* $(,)?]
     $(, after: [$($after:expr),* $(,)?])?;
     $($operands:tt)*) => {
        std::arch::asm!(
            $($($before,)*)?
            $crate::assembly::jump_if_zero!("blocks", "3f"),
            ".p2align 6",
            "2:",
            concat!(".rept ", $times),
            $($steps,)*
            ".endr",
            $crate::assembly::count_down!("blocks", "2b"),
            "3:",
            $($($after,)*)?
            $($operands)*
        )
    };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use blocks;

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

#[cfg(target_arch = "aarch64")]
use aarch64 as best;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use portable as best;
#[cfg(target_arch = "x86_64")]
use x86_64 as best;

/// What the loops are made of.
pub use best::NAME;
/// The loop of a case in plain Rust.
pub use portable::kernel as portable;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use portable::kernel;

/// The loop of a case.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub fn kernel(operation: Operation, kind: Kind, rate: Rate) -> Kernel {
    use {Kind::*, Operation::*};
    let [throughput, latency] = match (operation, kind) {
        (Add, I32) => best::add_i32::LOOPS,
        (Add, I64) => best::add_i64::LOOPS,
        (Add, F32) => best::add_f32::LOOPS,
        (Add, F64) => best::add_f64::LOOPS,
        (Subtract, I32) => best::subtract_i32::LOOPS,
        (Subtract, I64) => best::subtract_i64::LOOPS,
        (Subtract, F32) => best::subtract_f32::LOOPS,
        (Subtract, F64) => best::subtract_f64::LOOPS,
        (Multiply, I32) => best::multiply_i32::LOOPS,
        (Multiply, I64) => best::multiply_i64::LOOPS,
        (Multiply, F32) => best::multiply_f32::LOOPS,
        (Multiply, F64) => best::multiply_f64::LOOPS,
        (Divide, I32) => best::divide_i32::LOOPS,
        (Divide, I64) => best::divide_i64::LOOPS,
        (Divide, F32) => best::divide_f32::LOOPS,
        (Divide, F64) => best::divide_f64::LOOPS,
    };
    match rate {
        Rate::Throughput => throughput,
        Rate::Latency => latency,
    }
}
