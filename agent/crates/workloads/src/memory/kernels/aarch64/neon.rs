//! Advanced SIMD (NEON): loads and stores of pairs of 128-bit registers, two per cache line.

use super::{passes, Kernels};

pub const KERNELS: Kernels = Kernels {
    name: "neon",
    read,
    write,
    copy,
};

fn read(block: &[u64], passes: u64) -> u64 {
    let mut lanes = [0u64; 2];
    // SAFETY: the loops read inside `block`, which is whole aligned lines, write `lanes`, and clobber what is
    // named.
    unsafe {
        passes!(size_of_val(block), passes;
            before: [
                "movi v24.2d, #0",
            ],
            pass: [
                "mov {at}, {block}",
                ".irp r,0,1,2,3,4,5,6,7",
                "movi v\\r\\().2d, #0",
                ".endr",
            ],
            chunk: [
                ".irp d,0,128,256,384",
                "ldp q16, q17, [{at}, #\\d]",
                "ldp q18, q19, [{at}, #\\d + 32]",
                "ldp q20, q21, [{at}, #\\d + 64]",
                "ldp q22, q23, [{at}, #\\d + 96]",
                "eor v0.16b, v0.16b, v16.16b",
                "eor v1.16b, v1.16b, v17.16b",
                "eor v2.16b, v2.16b, v18.16b",
                "eor v3.16b, v3.16b, v19.16b",
                "eor v4.16b, v4.16b, v20.16b",
                "eor v5.16b, v5.16b, v21.16b",
                "eor v6.16b, v6.16b, v22.16b",
                "eor v7.16b, v7.16b, v23.16b",
                ".endr",
                "add {at}, {at}, #512",
            ],
            line: [
                "ldp q16, q17, [{at}, #0]",
                "ldp q18, q19, [{at}, #32]",
                "eor v0.16b, v0.16b, v16.16b",
                "eor v1.16b, v1.16b, v17.16b",
                "eor v2.16b, v2.16b, v18.16b",
                "eor v3.16b, v3.16b, v19.16b",
                "add {at}, {at}, #64",
            ],
            end: [
                "shl v25.2d, v24.2d, #1",
                "ushr v24.2d, v24.2d, #63",
                "orr v24.16b, v24.16b, v25.16b",
                ".irp r,0,1,2,3,4,5,6,7",
                "eor v24.16b, v24.16b, v\\r\\().16b",
                ".endr",
            ],
            after: [
                "str q24, [{lanes}]",
            ];
            at = out(reg) _,
            block = in(reg) block.as_ptr(),
            lanes = in(reg) lanes.as_mut_ptr(),
            out("v0") _,
            out("v1") _,
            out("v2") _,
            out("v3") _,
            out("v4") _,
            out("v5") _,
            out("v6") _,
            out("v7") _,
            out("v16") _,
            out("v17") _,
            out("v18") _,
            out("v19") _,
            out("v20") _,
            out("v21") _,
            out("v22") _,
            out("v23") _,
            out("v24") _,
            out("v25") _,
            options(nostack),
        );
    }
    lanes[0] ^ lanes[1]
}

fn write(block: &mut [u64], mut value: u64, passes: u64) -> u64 {
    // SAFETY: the loops write inside `block`, which is whole aligned lines, and clobber what is
    // named.
    unsafe {
        passes!(size_of_val(block), passes;
            pass: [
                "mov {at}, {block}",
                "add {value}, {value}, #1",
                "dup v0.2d, {value}",
            ],
            steps: [
                "stp q0, q0, [{at}, #\\d]",
                "stp q0, q0, [{at}, #\\d + 32]",
            ],
            chunk: "0,64,128,192,256,320,384,448", ["add {at}, {at}, #512"],
            line: "0", ["add {at}, {at}, #64"],
            end: [];
            at = out(reg) _,
            block = in(reg) block.as_mut_ptr(),
            value = inout(reg) value,
            out("v0") _,
            options(nostack),
        );
    }
    value
}

fn copy(to: &mut [u64], from: &[u64], passes: u64) {
    // SAFETY: the loops read inside `from` and write inside `to`, which are of one length and
    // whole aligned lines, and clobber what is named.
    unsafe {
        passes!(size_of_val(from), passes;
            before: [],
            pass: [
                "mov {source}, {from}",
                "mov {target}, {to}",
            ],
            chunk: [
                ".irp d,0,128,256,384",
                "ldp q0, q1, [{source}, #\\d]",
                "ldp q2, q3, [{source}, #\\d + 32]",
                "ldp q4, q5, [{source}, #\\d + 64]",
                "ldp q6, q7, [{source}, #\\d + 96]",
                "stp q0, q1, [{target}, #\\d]",
                "stp q2, q3, [{target}, #\\d + 32]",
                "stp q4, q5, [{target}, #\\d + 64]",
                "stp q6, q7, [{target}, #\\d + 96]",
                ".endr",
                "add {source}, {source}, #512",
                "add {target}, {target}, #512",
            ],
            line: [
                "ldp q0, q1, [{source}, #0]",
                "ldp q2, q3, [{source}, #32]",
                "stp q0, q1, [{target}, #0]",
                "stp q2, q3, [{target}, #32]",
                "add {source}, {source}, #64",
                "add {target}, {target}, #64",
            ],
            end: [],
            after: [];
            source = out(reg) _,
            target = out(reg) _,
            from = in(reg) from.as_ptr(),
            to = in(reg) to.as_mut_ptr(),
            out("v0") _,
            out("v1") _,
            out("v2") _,
            out("v3") _,
            out("v4") _,
            out("v5") _,
            out("v6") _,
            out("v7") _,
            options(nostack),
        );
    }
}
