//! The loops for x86-64, in assembly, so that exactly the instructions named run, whatever the
//! compiler: `add`, `sub`, `imul` and `idiv` on general registers, `addss` to `divsd` (scalar SSE2)
//! on the others. Loops are unrolled so far that their own instructions are below 1 %.

use super::{blocks, Kernel, State};

pub const NAME: &str = "x86-64 instructions add, sub, imul, idiv, addss to divsd";

/// The registers of the integer chains, and their low halves.
macro_rules! whole {
    ($($more:literal)?) => {
        concat!("r8,r9,r10,r11,r12,r13,r14,r15", $($more)?)
    };
}
macro_rules! low {
    ($($more:literal)?) => {
        concat!("r8d,r9d,r10d,r11d,r12d,r13d,r14d,r15d", $($more)?)
    };
}

/// Chains in r8 to r15, rax and rdx. `{operand}` is a whole register, so the operand of the short instructions
/// is `{operand:e}`.
macro_rules! integers {
    ($module:ident, $instruction:literal, $registers:expr, $first:literal, $operand:literal) => {
        pub mod $module {
            use super::*;

            pub const LOOPS: [Kernel; 2] = [throughput, latency];

            fn throughput(state: &mut State, operands: [u64; 2], blocks: u64) {
                // SAFETY: the loop works in registers alone and clobbers what is named.
                unsafe {
                    blocks!(50;
                        steps: [
                            concat!(".irp r,", $registers),
                            concat!($instruction, " \\r, ", $operand),
                            ".endr",
                        ];
                        operand = in(reg) operands[0],
                        blocks = inout(reg) blocks => _,
                        inout("r8") state[0], inout("r9") state[1],
                        inout("r10") state[2], inout("r11") state[3],
                        inout("r12") state[4], inout("r13") state[5],
                        inout("r14") state[6], inout("r15") state[7],
                        inout("rax") state[8], inout("rdx") state[9],
                        options(nostack, nomem),
                    );
                }
            }

            fn latency(state: &mut State, operands: [u64; 2], blocks: u64) {
                // SAFETY: the loop works in registers alone and clobbers what is named.
                unsafe {
                    blocks!(102;
                        steps: [concat!($instruction, " ", $first, ", ", $operand)];
                        operand = in(reg) operands[0],
                        blocks = inout(reg) blocks => _,
                        inout("r8") state[0],
                        options(nostack, nomem),
                    );
                }
            }
        }
    };
}

integers!(add_i32, "add", low!(",eax,edx"), "r8d", "{operand:e}");
integers!(add_i64, "add", whole!(",rax,rdx"), "r8", "{operand}");
integers!(subtract_i32, "sub", low!(",eax,edx"), "r8d", "{operand:e}");
integers!(subtract_i64, "sub", whole!(",rax,rdx"), "r8", "{operand}");
integers!(multiply_i32, "imul", low!(",eax,edx"), "r8d", "{operand:e}");
integers!(multiply_i64, "imul", whole!(",rax,rdx"), "r8", "{operand}");

/// Divisors in r8 to r15, the dividend in `{dividend}`; the quotients are added up. `idiv` wants the
/// dividend in (e/r)ax, extended into (e/r)dx.
macro_rules! integer_divisions {
    ($module:ident, $a:literal, $extend:literal, $registers:expr, $divisor:literal,
     $dividend:literal) => {
        pub mod $module {
            use super::*;

            pub const LOOPS: [Kernel; 2] = [throughput, latency];

            fn throughput(state: &mut State, operands: [u64; 2], blocks: u64) {
                let [d0, d1, d2, d3, d4, d5, d6, d7, ..] = *state;
                // SAFETY: the loop works in registers alone and clobbers what is named. No divisor
                // is 0 or -1.
                unsafe {
                    blocks!(50;
                        steps: [
                            concat!(".irp r,", $registers),
                            concat!("mov ", $a, ", ", $dividend),
                            $extend,
                            "idiv \\r",
                            "add {quotients}, rax",
                            ".endr",
                        ];
                        dividend = in(reg) operands[0],
                        blocks = inout(reg) blocks => _,
                        quotients = inout(reg) state[super::super::QUOTIENTS],
                        out("rax") _, out("rdx") _,
                        in("r8") d0, in("r9") d1, in("r10") d2, in("r11") d3,
                        in("r12") d4, in("r13") d5, in("r14") d6, in("r15") d7,
                        options(nostack, nomem),
                    );
                }
            }

            fn latency(state: &mut State, operands: [u64; 2], blocks: u64) {
                // SAFETY: the loop works in registers alone and clobbers what is named. The
                // divisors are two positive numbers in turn.
                unsafe {
                    blocks!(102;
                        steps: [
                            concat!("mov ", $a, ", ", $dividend),
                            $extend,
                            concat!("idiv ", $divisor),
                            concat!("mov ", $divisor, ", ", $a),
                            "add {quotients}, rax",
                        ];
                        dividend = in(reg) operands[0],
                        divisor = inout(reg) state[0],
                        blocks = inout(reg) blocks => _,
                        quotients = inout(reg) state[super::super::QUOTIENTS],
                        out("rax") _, out("rdx") _,
                        options(nostack, nomem),
                    );
                }
            }
        }
    };
}

integer_divisions!(
    divide_i32,
    "eax",
    "cdq",
    low!(),
    "{divisor:e}",
    "{dividend:e}"
);
integer_divisions!(
    divide_i64,
    "rax",
    "cqo",
    whole!(),
    "{divisor}",
    "{dividend}"
);

/// Chains in xmm0 to xmm11, the two operands in xmm12 and xmm13.
macro_rules! floats {
    ($module:ident, $instruction:literal) => {
        pub mod $module {
            use super::*;

            pub const LOOPS: [Kernel; 2] = [throughput, latency];

            fn throughput(state: &mut State, operands: [u64; 2], blocks: u64) {
                // SAFETY: the loop reads `operands`, reads and writes the first 12 words of
                // `state`, and clobbers what is named.
                unsafe {
                    blocks!(17;
                        before: [
                            "movq xmm12, qword ptr [{operands}]",
                            "movq xmm13, qword ptr [{operands} + 8]",
                            ".irp n,0,1,2,3,4,5,6,7,8,9,10,11",
                            "movq xmm\\n, qword ptr [{state} + 8 * \\n]",
                            ".endr",
                        ],
                        steps: [
                            ".irp n,0,1,2,3,4,5,6,7,8,9,10,11",
                            concat!($instruction, " xmm\\n, xmm12"),
                            ".endr",
                            ".irp n,0,1,2,3,4,5,6,7,8,9,10,11",
                            concat!($instruction, " xmm\\n, xmm13"),
                            ".endr",
                        ],
                        after: [
                            ".irp n,0,1,2,3,4,5,6,7,8,9,10,11",
                            "movq qword ptr [{state} + 8 * \\n], xmm\\n",
                            ".endr",
                        ];
                        state = in(reg) state.as_mut_ptr(),
                        operands = in(reg) operands.as_ptr(),
                        blocks = inout(reg) blocks => _,
                        out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                        out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                        out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                        out("xmm12") _, out("xmm13") _,
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
                            "movq xmm12, qword ptr [{operands}]",
                            "movq xmm13, qword ptr [{operands} + 8]",
                            "movq xmm0, qword ptr [{state}]",
                        ],
                        steps: [
                            concat!($instruction, " xmm0, xmm12"),
                            concat!($instruction, " xmm0, xmm13"),
                        ],
                        after: ["movq qword ptr [{state}], xmm0"];
                        state = in(reg) state.as_mut_ptr(),
                        operands = in(reg) operands.as_ptr(),
                        blocks = inout(reg) blocks => _,
                        out("xmm0") _, out("xmm12") _, out("xmm13") _,
                        options(nostack),
                    );
                }
            }
        }
    };
}

floats!(add_f32, "addss");
floats!(add_f64, "addsd");
floats!(subtract_f32, "subss");
floats!(subtract_f64, "subsd");
floats!(multiply_f32, "mulss");
floats!(multiply_f64, "mulsd");
floats!(divide_f32, "divss");
floats!(divide_f64, "divsd");
