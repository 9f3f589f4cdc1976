//! The loops for 64-bit ARM, in assembly, so that exactly the instructions named run, whatever the
//! compiler: `add`, `sub`, `mul` and `sdiv` on general registers, scalar `fadd` to `fdiv` on the
//! others. Loops are unrolled so far that their own instructions are below 1 %.

use super::{blocks, Kernel, State};

pub const NAME: &str = "64-bit ARM instructions add, sub, mul, sdiv, fadd to fdiv";

/// Chains in the registers 0 to 9, as `w` or `x`.
macro_rules! integers {
    ($module:ident, $instruction:literal, $width:literal, $operand:literal) => {
        pub mod $module {
            use super::*;

            pub const LOOPS: [Kernel; 2] = [throughput, latency];

            fn throughput(state: &mut State, operands: [u64; 2], blocks: u64) {
                // SAFETY: the loop works in registers alone and clobbers what is named.
                unsafe {
                    blocks!(50;
                        steps: [
                            ".irp r,0,1,2,3,4,5,6,7,8,9",
                            concat!($instruction, " ", $width, "\\r, ", $width, "\\r, ", $operand),
                            ".endr",
                        ];
                        operand = in(reg) operands[0],
                        blocks = inout(reg) blocks => _,
                        inout("x0") state[0], inout("x1") state[1],
                        inout("x2") state[2], inout("x3") state[3],
                        inout("x4") state[4], inout("x5") state[5],
                        inout("x6") state[6], inout("x7") state[7],
                        inout("x8") state[8], inout("x9") state[9],
                        options(nostack, nomem),
                    );
                }
            }

            fn latency(state: &mut State, operands: [u64; 2], blocks: u64) {
                // SAFETY: the loop works in registers alone and clobbers what is named.
                unsafe {
                    blocks!(102;
                        steps: [concat!($instruction, " ", $width, "0, ", $width, "0, ", $operand)];
                        operand = in(reg) operands[0],
                        blocks = inout(reg) blocks => _,
                        inout("x0") state[0],
                        options(nostack, nomem),
                    );
                }
            }
        }
    };
}

integers!(add_i32, "add", "w", "{operand:w}");
integers!(add_i64, "add", "x", "{operand}");
integers!(subtract_i32, "sub", "w", "{operand:w}");
integers!(subtract_i64, "sub", "x", "{operand}");
integers!(multiply_i32, "mul", "w", "{operand:w}");
integers!(multiply_i64, "mul", "x", "{operand}");

/// Divisors in the registers 0 to 7, the dividend in `{dividend}`; the quotients are added up. The
/// short form clears the high half of its result.
macro_rules! integer_divisions {
    ($module:ident, $width:literal, $divisor:literal, $dividend:literal) => {
        pub mod $module {
            use super::*;

            pub const LOOPS: [Kernel; 2] = [throughput, latency];

            fn throughput(state: &mut State, operands: [u64; 2], blocks: u64) {
                let [d0, d1, d2, d3, d4, d5, d6, d7, ..] = *state;
                // SAFETY: the loop works in registers alone and clobbers what is named.
                unsafe {
                    blocks!(50;
                        steps: [
                            ".irp r,0,1,2,3,4,5,6,7",
                            concat!("sdiv ", $width, "9, ", $dividend, ", ", $width, "\\r"),
                            "add {quotients}, {quotients}, x9",
                            ".endr",
                        ];
                        dividend = in(reg) operands[0],
                        blocks = inout(reg) blocks => _,
                        quotients = inout(reg) state[super::super::QUOTIENTS],
                        out("x9") _,
                        in("x0") d0, in("x1") d1, in("x2") d2, in("x3") d3,
                        in("x4") d4, in("x5") d5, in("x6") d6, in("x7") d7,
                        options(nostack, nomem),
                    );
                }
            }

            fn latency(state: &mut State, operands: [u64; 2], blocks: u64) {
                // SAFETY: the loop works in registers alone and clobbers what is named.
                unsafe {
                    blocks!(102;
                        steps: [
                            concat!("sdiv ", $divisor, ", ", $dividend, ", ", $divisor),
                            "add {quotients}, {quotients}, {divisor}",
                        ];
                        dividend = in(reg) operands[0],
                        divisor = inout(reg) state[0],
                        blocks = inout(reg) blocks => _,
                        quotients = inout(reg) state[super::super::QUOTIENTS],
                        options(nostack, nomem),
                    );
                }
            }
        }
    };
}

integer_divisions!(divide_i32, "w", "{divisor:w}", "{dividend:w}");
integer_divisions!(divide_i64, "x", "{divisor}", "{dividend}");

/// Chains in the registers 0 to 11, as `s` or `d`, the two operands in 12 and 13.
macro_rules! floats {
    ($module:ident, $instruction:literal, $width:literal) => {
        pub mod $module {
            use super::*;

            pub const LOOPS: [Kernel; 2] = [throughput, latency];

            fn throughput(state: &mut State, operands: [u64; 2], blocks: u64) {
                // SAFETY: the loop reads `operands`, reads and writes the first 12 words of
                // `state`, and clobbers what is named.
                unsafe {
                    blocks!(17;
                        before: [
                            "ldp d12, d13, [{operands}]",
                            ".irp n,0,1,2,3,4,5,6,7,8,9,10,11",
                            "ldr d\\n, [{state}, #8 * \\n]",
                            ".endr",
                        ],
                        steps: [
                            ".irp o,12,13",
                            ".irp n,0,1,2,3,4,5,6,7,8,9,10,11",
                            concat!(
                                $instruction, " ", $width, "\\n, ", $width, "\\n, ", $width, "\\o"
                            ),
                            ".endr",
                            ".endr",
                        ],
                        after: [
                            ".irp n,0,1,2,3,4,5,6,7,8,9,10,11",
                            "str d\\n, [{state}, #8 * \\n]",
                            ".endr",
                        ];
                        state = in(reg) state.as_mut_ptr(),
                        operands = in(reg) operands.as_ptr(),
                        blocks = inout(reg) blocks => _,
                        out("v0") _, out("v1") _, out("v2") _, out("v3") _,
                        out("v4") _, out("v5") _, out("v6") _, out("v7") _,
                        out("v8") _, out("v9") _, out("v10") _, out("v11") _,
                        out("v12") _, out("v13") _,
                        options(nostack),
                    );
                }
            }

            fn latency(state: &mut State, operands: [u64; 2], blocks: u64) {
                // SAFETY: the loop reads `operands`, reads and writes the first word of `state`,
                // and clobbers what is named.
                unsafe {
                    blocks!(51;
                        before: [
                            "ldp d12, d13, [{operands}]",
                            "ldr d0, [{state}]",
                        ],
                        steps: [
                            concat!($instruction, " ", $width, "0, ", $width, "0, ", $width, "12"),
                            concat!($instruction, " ", $width, "0, ", $width, "0, ", $width, "13"),
                        ],
                        after: ["str d0, [{state}]"];
                        state = in(reg) state.as_mut_ptr(),
                        operands = in(reg) operands.as_ptr(),
                        blocks = inout(reg) blocks => _,
                        out("v0") _, out("v12") _, out("v13") _,
                        options(nostack),
                    );
                }
            }
        }
    };
}

floats!(add_f32, "fadd", "s");
floats!(add_f64, "fadd", "d");
floats!(subtract_f32, "fsub", "s");
floats!(subtract_f64, "fsub", "d");
floats!(multiply_f32, "fmul", "s");
floats!(multiply_f64, "fmul", "d");
floats!(divide_f32, "fdiv", "s");
floats!(divide_f64, "fdiv", "d");
