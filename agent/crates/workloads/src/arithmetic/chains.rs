//! Which numbers the chains compute with, and where they must arrive.
//!
//! All operands are of full width, because some CPUs divide and multiply short or round numbers
//! faster, and no chain meets zero, infinity or a subnormal number.
//!
//! - Integers, add and subtract: a fixed odd number. Multiply: by a fixed odd number, modulo 2^n.
//! - Integers, divide: a dividend just below 2^(n-1) by a divisor of half its width, so that the
//!   quotient has half its width too. In the dependent chain the quotient is the next divisor.
//! - Floats, add and subtract: one, counting up or down. The sum stays exact and counts the steps
//!   until it is too large to change (2^24 for f32).
//! - Floats, multiply and divide: by the root of three and by minus its inverse in turn; the
//!   starting values are such that two steps give exactly the starting value with its sign turned.

use super::kernels::{State, CHAINS, QUOTIENTS};
use super::operation::{Kind, Operation};

const ADDEND: [u64; 2] = [0x9e37_79b1, 0x9e37_79b9_7f4a_7c15];
const FACTOR: [u64; 2] = [0x85eb_ca6b, 0xc2b2_ae3d_27d4_eb4f];
/// Two divisors of half the width; the dividend is their product.
const DIVISORS: [[u64; 2]; 2] = [[46_337, 46_327], [3_037_000_493, 3_037_000_453]];
/// The independent divisions divide by numbers that are this far apart.
const SPREAD: [u64; 2] = [977, 64_007_921];

fn wide(kind: Kind) -> usize {
    usize::from(kind == Kind::I64)
}

/// The operands of a step: for floats the first and the second of every two; for integers the
/// first alone.
pub fn operands(operation: Operation, kind: Kind) -> [u64; 2] {
    let root = 3f64.sqrt();
    match (operation, kind) {
        (Operation::Add | Operation::Subtract, Kind::F32) => [bits32(1.0); 2],
        (Operation::Add | Operation::Subtract, Kind::F64) => [1f64.to_bits(); 2],
        (_, Kind::F32) => [bits32(root as f32), bits32(-1.0 / root as f32)],
        (_, Kind::F64) => [root.to_bits(), (-1.0 / root).to_bits()],
        (Operation::Add | Operation::Subtract, _) => [ADDEND[wide(kind)]; 2],
        (Operation::Multiply, _) => [FACTOR[wide(kind)]; 2],
        (Operation::Divide, _) => {
            let [one, other] = DIVISORS[wide(kind)];
            [one * other; 2]
        }
    }
}

/// Where the chains start.
pub fn start(operation: Operation, kind: Kind) -> State {
    let mut state = State::default();
    for (chain, slot) in state.iter_mut().enumerate().take(CHAINS) {
        let number = chain as u64;
        *slot = match (operation, kind) {
            (Operation::Add, Kind::F32) => bits32(number as f32),
            (Operation::Subtract, Kind::F32) => bits32(-(number as f32)),
            (Operation::Add, Kind::F64) => (number as f64).to_bits(),
            (Operation::Subtract, Kind::F64) => (-(number as f64)).to_bits(),
            (_, Kind::F32 | Kind::F64) => settled(operation, kind, chain),
            (Operation::Divide, _) => DIVISORS[wide(kind)][0] - number * SPREAD[wide(kind)],
            (_, Kind::I32 | Kind::I64) => number * 2 + 1,
        };
    }
    state[QUOTIENTS] = 0;
    state
}

/// A number from which two steps lead to the same number with its sign turned: rounding makes most
/// numbers drift by a unit or two to one of those.
fn settled(operation: Operation, kind: Kind, chain: usize) -> u64 {
    // Different numbers for the two operations, so that their checksums differ.
    let aside = f64::from(u8::from(operation == Operation::Divide)) / 16.0;
    let from = std::f64::consts::SQRT_2 + aside + chain as f64 / 8.0;
    let mut number = match kind {
        Kind::F32 => bits32(from as f32),
        _ => from.to_bits(),
    };
    let sign = match kind {
        Kind::F32 => 1 << 31,
        _ => 1 << 63,
    };
    for _ in 0..64 {
        let first = step(operation, kind, number, 0);
        let next = step(operation, kind, first, 1) ^ sign;
        if next == number {
            return number;
        }
        number = next;
    }
    panic!("{operation:?} {kind:?}: no number near {from} comes back after two steps")
}

/// One step of a chain in plain Rust; `index` counts the chain's steps from 0.
pub fn step(operation: Operation, kind: Kind, number: u64, index: u64) -> u64 {
    let operand = operands(operation, kind)[(index % 2) as usize];
    apply(operation, kind, number, operand)
}

/// One operation in plain Rust, numbers as bits; of integers the operand is divided by the number.
pub fn apply(operation: Operation, kind: Kind, number: u64, operand: u64) -> u64 {
    match kind {
        Kind::I32 => {
            let (a, b) = (number as i32, operand as i32);
            (match operation {
                Operation::Add => a.wrapping_add(b),
                Operation::Subtract => a.wrapping_sub(b),
                Operation::Multiply => a.wrapping_mul(b),
                Operation::Divide => b / a,
            }) as u32 as u64
        }
        Kind::I64 => {
            let (a, b) = (number as i64, operand as i64);
            (match operation {
                Operation::Add => a.wrapping_add(b),
                Operation::Subtract => a.wrapping_sub(b),
                Operation::Multiply => a.wrapping_mul(b),
                Operation::Divide => b / a,
            }) as u64
        }
        Kind::F32 => {
            let (a, b) = (
                f32::from_bits(number as u32),
                f32::from_bits(operand as u32),
            );
            bits32(match operation {
                Operation::Add => a + b,
                Operation::Subtract => a - b,
                Operation::Multiply => a * b,
                Operation::Divide => a / b,
            })
        }
        Kind::F64 => {
            let (a, b) = (f64::from_bits(number), f64::from_bits(operand));
            (match operation {
                Operation::Add => a + b,
                Operation::Subtract => a - b,
                Operation::Multiply => a * b,
                Operation::Divide => a / b,
            })
            .to_bits()
        }
    }
}

/// Where a chain that starts at `number` is after `steps`, without taking them.
pub fn arrival(operation: Operation, kind: Kind, number: u64, steps: u64) -> u64 {
    let operand = operands(operation, kind)[0];
    let low = |number: u64| match kind {
        Kind::I32 => number & 0xffff_ffff,
        _ => number,
    };
    match (operation, kind) {
        (Operation::Add, Kind::I32 | Kind::I64) => {
            low(number.wrapping_add(operand.wrapping_mul(steps)))
        }
        (Operation::Subtract, Kind::I32 | Kind::I64) => {
            low(number.wrapping_sub(operand.wrapping_mul(steps)))
        }
        (Operation::Multiply, Kind::I32 | Kind::I64) => {
            low(number.wrapping_mul(power(operand, steps)))
        }
        (Operation::Add | Operation::Subtract, Kind::F32) => {
            let count = f64::from(f32::from_bits(number as u32).abs()) + steps as f64;
            let value = count.min((1u64 << 24) as f64) as f32;
            bits32(if operation == Operation::Add {
                value
            } else {
                -value
            })
        }
        (Operation::Add | Operation::Subtract, Kind::F64) => {
            let count = f64::from_bits(number).abs() as u64 + steps;
            let value = count.min(1 << 53) as f64;
            (if operation == Operation::Add {
                value
            } else {
                -value
            })
            .to_bits()
        }
        // Four steps lead back: two turn the sign, and integer divisors alternate.
        (_, _) => (0..steps % 4).fold(number, |number, index| step(operation, kind, number, index)),
    }
}

/// `base` to the power of `exponent`, modulo 2^64.
fn power(base: u64, exponent: u64) -> u64 {
    let (mut result, mut square, mut left) = (1u64, base, exponent);
    while left > 0 {
        if left & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        left >>= 1;
    }
    result
}

fn bits32(number: f32) -> u64 {
    u64::from(number.to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases() -> impl Iterator<Item = (Operation, Kind)> {
        Operation::ALL
            .into_iter()
            .flat_map(|operation| Kind::ALL.map(|kind| (operation, kind)))
    }

    #[test]
    fn arrivals_are_where_the_steps_lead() {
        for (operation, kind) in cases() {
            let divides_integers = operation == Operation::Divide && !kind.is_float();
            // Only the first pair of divisors alternates; the others are for single divisions.
            let chains = if divides_integers { 1 } else { CHAINS };
            for (chain, &from) in start(operation, kind).iter().enumerate().take(chains) {
                let mut number = from;
                for steps in 0..300 {
                    assert_eq!(
                        arrival(operation, kind, from, steps),
                        number,
                        "{operation:?} {kind:?} chain {chain} step {steps}"
                    );
                    number = step(operation, kind, number, steps);
                }
            }
        }
    }

    #[test]
    fn a_sum_of_floats_stops_where_one_is_too_small_to_change_it() {
        let near = bits32((1u32 << 24) as f32 - 3.0);
        for steps in 0..10 {
            let taken = (0..steps).fold(near, |n, i| step(Operation::Add, Kind::F32, n, i));
            assert_eq!(arrival(Operation::Add, Kind::F32, near, steps), taken);
        }
    }

    #[test]
    fn no_chain_meets_a_special_number() {
        for (operation, kind) in cases().filter(|(_, kind)| kind.is_float()) {
            for &from in start(operation, kind).iter().take(CHAINS) {
                let mut number = from;
                for index in 0..8 {
                    number = step(operation, kind, number, index);
                    let value = match kind {
                        Kind::F32 => f64::from(f32::from_bits(number as u32)),
                        _ => f64::from_bits(number),
                    };
                    assert!(value.is_normal(), "{operation:?} {kind:?}: {value}");
                    if matches!(operation, Operation::Multiply | Operation::Divide) {
                        // Neither a round number nor one with a short mantissa.
                        assert!((value * 4096.0).fract() != 0.0, "{operation:?} {value}");
                        assert!((0.5..8.0).contains(&value.abs()), "{operation:?} {value}");
                    }
                }
            }
        }
    }

    #[test]
    fn quotients_have_half_the_width_of_the_dividend() {
        for (kind, width) in [(Kind::I32, 32), (Kind::I64, 64)] {
            let dividend = operands(Operation::Divide, kind)[0];
            assert_eq!(
                64 - dividend.leading_zeros(),
                width - 1,
                "just below the sign"
            );
            for &divisor in start(Operation::Divide, kind).iter().take(CHAINS) {
                for half in [divisor, dividend / divisor] {
                    let bits = 64 - half.leading_zeros();
                    assert!((width / 2 - 1..=width / 2).contains(&bits), "{half}");
                }
            }
        }
    }
}
