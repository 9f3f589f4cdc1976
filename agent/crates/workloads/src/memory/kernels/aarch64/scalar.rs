//! Loads and stores of pairs of 64-bit registers, four per cache line.

use super::{passes, Kernels};

pub const KERNELS: Kernels = Kernels {
    name: "scalar",
    read,
    write,
    copy,
};

fn read(block: &[u64], passes: u64) -> u64 {
    let mut all = 0u64;
    // SAFETY: the loops read inside `block`, which is whole aligned lines and clobber what is
    // named.
    unsafe {
        passes!(size_of_val(block), passes;
            pass: [
                "mov {at}, {block}",
                "mov {a}, xzr",
                "mov {b}, xzr",
                "mov {c}, xzr",
                "mov {d}, xzr",
            ],
            steps: [
                "ldp {e}, {f}, [{at}, #\\d]",
                "eor {a}, {a}, {e}",
                "eor {b}, {b}, {f}",
                "ldp {e}, {f}, [{at}, #\\d + 16]",
                "eor {c}, {c}, {e}",
                "eor {d}, {d}, {f}",
                "ldp {e}, {f}, [{at}, #\\d + 32]",
                "eor {a}, {a}, {e}",
                "eor {b}, {b}, {f}",
                "ldp {e}, {f}, [{at}, #\\d + 48]",
                "eor {c}, {c}, {e}",
                "eor {d}, {d}, {f}",
            ],
            chunk: "0,64,128,192,256,320,384,448", ["add {at}, {at}, #512"],
            line: "0", ["add {at}, {at}, #64"],
            end: [
                "ror {all}, {all}, #63",
                "eor {a}, {a}, {b}",
                "eor {c}, {c}, {d}",
                "eor {all}, {all}, {a}",
                "eor {all}, {all}, {c}",
            ];
            at = out(reg) _,
            block = in(reg) block.as_ptr(),
            all = inout(reg) all,
            a = out(reg) _,
            b = out(reg) _,
            c = out(reg) _,
            d = out(reg) _,
            e = out(reg) _,
            f = out(reg) _,
            options(nostack, readonly),
        );
    }
    all
}

fn write(block: &mut [u64], mut value: u64, passes: u64) -> u64 {
    // SAFETY: the loops write inside `block`, which is whole aligned lines, and clobber what is
    // named.
    unsafe {
        passes!(size_of_val(block), passes;
            pass: [
                "mov {at}, {block}",
                "add {value}, {value}, #1",
            ],
            steps: [
                "stp {value}, {value}, [{at}, #\\d]",
                "stp {value}, {value}, [{at}, #\\d + 16]",
                "stp {value}, {value}, [{at}, #\\d + 32]",
                "stp {value}, {value}, [{at}, #\\d + 48]",
            ],
            chunk: "0,64,128,192,256,320,384,448", ["add {at}, {at}, #512"],
            line: "0", ["add {at}, {at}, #64"],
            end: [];
            at = out(reg) _,
            block = in(reg) block.as_mut_ptr(),
            value = inout(reg) value,
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
            pass: [
                "mov {source}, {from}",
                "mov {target}, {to}",
            ],
            steps: [
                "ldp {a}, {b}, [{source}, #\\d]",
                "ldp {c}, {d}, [{source}, #\\d + 16]",
                "stp {a}, {b}, [{target}, #\\d]",
                "stp {c}, {d}, [{target}, #\\d + 16]",
                "ldp {a}, {b}, [{source}, #\\d + 32]",
                "ldp {c}, {d}, [{source}, #\\d + 48]",
                "stp {a}, {b}, [{target}, #\\d + 32]",
                "stp {c}, {d}, [{target}, #\\d + 48]",
            ],
            chunk: "0,64,128,192,256,320,384,448", ["add {source}, {source}, #512", "add {target}, {target}, #512"],
            line: "0", ["add {source}, {source}, #64", "add {target}, {target}, #64"],
            end: [];
            source = out(reg) _,
            target = out(reg) _,
            from = in(reg) from.as_ptr(),
            to = in(reg) to.as_mut_ptr(),
            a = out(reg) _,
            b = out(reg) _,
            c = out(reg) _,
            d = out(reg) _,
            options(nostack),
        );
    }
}
