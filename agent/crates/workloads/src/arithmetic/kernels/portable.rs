//! The loops in plain Rust, for architectures without loops of their own. `black_box` makes every
//! operation happen, and may cost a store and a load each: times are upper bounds.

use super::super::operation::{Kind, Operation};
use super::{chains, steps, Kernel, Rate, State, CHAINS, QUOTIENTS};
use std::hint::black_box;

#[cfg_attr(any(target_arch = "x86_64", target_arch = "aarch64"), allow(dead_code))]
pub const NAME: &str = "portable loops, which give upper bounds of the times";

pub fn kernel(operation: Operation, kind: Kind, rate: Rate) -> Kernel {
    match kind {
        Kind::I32 => of::<i32>(operation, rate),
        Kind::I64 => of::<i64>(operation, rate),
        Kind::F32 => of::<f32>(operation, rate),
        Kind::F64 => of::<f64>(operation, rate),
    }
}

fn of<N: Number>(operation: Operation, rate: Rate) -> Kernel {
    match operation {
        Operation::Add => rates::<N>(rate, chain::<N, ADD>, side_by_side::<N, ADD>),
        Operation::Subtract => rates::<N>(rate, chain::<N, SUBTRACT>, side_by_side::<N, SUBTRACT>),
        Operation::Multiply => rates::<N>(rate, chain::<N, MULTIPLY>, side_by_side::<N, MULTIPLY>),
        Operation::Divide if N::KIND.is_float() => {
            rates::<N>(rate, chain::<N, DIVIDE>, side_by_side::<N, DIVIDE>)
        }
        Operation::Divide => rates::<N>(rate, divisors::<N>, divisions::<N>),
    }
}

fn rates<N: Number>(rate: Rate, latency: Kernel, throughput: Kernel) -> Kernel {
    match rate {
        Rate::Latency => latency,
        Rate::Throughput => throughput,
    }
}

const ADD: u8 = Operation::Add as u8;
const SUBTRACT: u8 = Operation::Subtract as u8;
const MULTIPLY: u8 = Operation::Multiply as u8;
const DIVIDE: u8 = Operation::Divide as u8;

fn operation(code: u8) -> Operation {
    Operation::ALL[usize::from(code)]
}

trait Number: Copy {
    const KIND: Kind;
    fn decode(bits: u64) -> Self;
    fn encode(self) -> u64;
    fn apply<const OPERATION: u8>(self, operand: Self) -> Self;
}

macro_rules! number {
    ($type:ty, $kind:ident, |$bits:ident| $decode:expr, |$number:ident| $encode:expr,
     $a:ident, $b:ident, $add:expr, $subtract:expr, $multiply:expr) => {
        impl Number for $type {
            const KIND: Kind = Kind::$kind;
            fn decode($bits: u64) -> Self {
                $decode
            }
            fn encode(self) -> u64 {
                let $number = self;
                $encode
            }
            #[inline]
            fn apply<const OPERATION: u8>(self, operand: Self) -> Self {
                let ($a, $b) = (self, operand);
                match OPERATION {
                    ADD => $add,
                    SUBTRACT => $subtract,
                    MULTIPLY => $multiply,
                    _ => $a / $b,
                }
            }
        }
    };
}

number!(
    i32,
    I32,
    |bits| bits as i32,
    |n| u64::from(n as u32),
    a,
    b,
    a.wrapping_add(b),
    a.wrapping_sub(b),
    a.wrapping_mul(b)
);
number!(
    i64,
    I64,
    |bits| bits as i64,
    |n| n as u64,
    a,
    b,
    a.wrapping_add(b),
    a.wrapping_sub(b),
    a.wrapping_mul(b)
);
number!(
    f32,
    F32,
    |bits| f32::from_bits(bits as u32),
    |n| u64::from(n.to_bits()),
    a,
    b,
    a + b,
    a - b,
    a * b
);
number!(
    f64,
    F64,
    |bits| f64::from_bits(bits),
    |n| n.to_bits(),
    a,
    b,
    a + b,
    a - b,
    a * b
);

fn chain<N: Number, const OPERATION: u8>(state: &mut State, operands: [u64; 2], blocks: u64) {
    let operands = operands.map(N::decode);
    let mut number = N::decode(state[0]);
    for _ in 0..blocks * steps(N::KIND, Rate::Latency) / 2 {
        for operand in operands {
            number = black_box(number.apply::<OPERATION>(operand));
        }
    }
    state[0] = number.encode();
}

fn side_by_side<N: Number, const OPERATION: u8>(
    state: &mut State,
    operands: [u64; 2],
    blocks: u64,
) {
    let operands = operands.map(N::decode);
    let count = chains(operation(OPERATION), N::KIND, Rate::Throughput);
    let mut numbers: [N; CHAINS] = std::array::from_fn(|chain| N::decode(state[chain]));
    for _ in 0..blocks * steps(N::KIND, Rate::Throughput) / 2 {
        for operand in operands {
            for number in &mut numbers[..count] {
                *number = black_box(number.apply::<OPERATION>(operand));
            }
        }
    }
    for (slot, number) in state.iter_mut().zip(&numbers[..count]) {
        *slot = number.encode();
    }
}

fn divisors<N: Number>(state: &mut State, operands: [u64; 2], blocks: u64) {
    let dividend = N::decode(operands[0]);
    let mut divisor = N::decode(state[0]);
    for _ in 0..blocks * steps(N::KIND, Rate::Latency) {
        divisor = black_box(dividend.apply::<DIVIDE>(divisor));
        state[QUOTIENTS] = state[QUOTIENTS].wrapping_add(divisor.encode());
    }
    state[0] = divisor.encode();
}

fn divisions<N: Number>(state: &mut State, operands: [u64; 2], blocks: u64) {
    let dividend = N::decode(operands[0]);
    let count = chains(Operation::Divide, N::KIND, Rate::Throughput);
    for _ in 0..blocks * steps(N::KIND, Rate::Throughput) {
        for chain in 0..count {
            let divisor = N::decode(state[chain]);
            let quotient = black_box(black_box(dividend).apply::<DIVIDE>(divisor));
            state[QUOTIENTS] = state[QUOTIENTS].wrapping_add(quotient.encode());
        }
    }
}
