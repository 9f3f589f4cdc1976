//! Plain 64-bit loads and stores, eight per cache line.

use super::{passes, Kernels};

pub const KERNELS: Kernels = Kernels {
    name: "scalar",
    read,
    write,
    copy,
};

fn read(block: &[u64], passes: u64) -> u64 {
    let mut all = 0u64;
    // SAFETY: the loops read inside `block`, which is whole aligned lines, and clobber what is
    // named.
    unsafe {
        passes!(size_of_val(block), passes;
            pass: [
                "mov {at}, {block}",
                "xor {a:e}, {a:e}",
                "xor {b:e}, {b:e}",
                "xor {c:e}, {c:e}",
                "xor {d:e}, {d:e}",
            ],
            steps: [
                "xor {a}, qword ptr [{at} + \\d]",
                "xor {b}, qword ptr [{at} + \\d + 8]",
                "xor {c}, qword ptr [{at} + \\d + 16]",
                "xor {d}, qword ptr [{at} + \\d + 24]",
                "xor {a}, qword ptr [{at} + \\d + 32]",
                "xor {b}, qword ptr [{at} + \\d + 40]",
                "xor {c}, qword ptr [{at} + \\d + 48]",
                "xor {d}, qword ptr [{at} + \\d + 56]",
            ],
            chunk: "0,64,128,192,256,320,384,448,512,576,640,704,768,832,896,960", ["add {at}, 1024"],
            line: "0", ["add {at}, 64"],
            end: [
                "rol {all}, 1",
                "xor {a}, {b}",
                "xor {c}, {d}",
                "xor {all}, {a}",
                "xor {all}, {c}",
            ];
            at = out(reg) _,
            block = in(reg) block.as_ptr(),
            all = inout(reg) all,
            a = out(reg) _,
            b = out(reg) _,
            c = out(reg) _,
            d = out(reg) _,
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
            pass: ["mov {at}, {block}", "inc {value}"],
            steps: [
                "mov qword ptr [{at} + \\d], {value}",
                "mov qword ptr [{at} + \\d + 8], {value}",
                "mov qword ptr [{at} + \\d + 16], {value}",
                "mov qword ptr [{at} + \\d + 24], {value}",
                "mov qword ptr [{at} + \\d + 32], {value}",
                "mov qword ptr [{at} + \\d + 40], {value}",
                "mov qword ptr [{at} + \\d + 48], {value}",
                "mov qword ptr [{at} + \\d + 56], {value}",
            ],
            chunk: "0,64,128,192,256,320,384,448,512,576,640,704,768,832,896,960", ["add {at}, 1024"],
            line: "0", ["add {at}, 64"],
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
            pass: ["mov {source}, {from}", "mov {target}, {to}"],
            steps: [
                "mov {a}, qword ptr [{source} + \\d]",
                "mov {b}, qword ptr [{source} + \\d + 8]",
                "mov {c}, qword ptr [{source} + \\d + 16]",
                "mov {d}, qword ptr [{source} + \\d + 24]",
                "mov qword ptr [{target} + \\d], {a}",
                "mov qword ptr [{target} + \\d + 8], {b}",
                "mov qword ptr [{target} + \\d + 16], {c}",
                "mov qword ptr [{target} + \\d + 24], {d}",
            ],
            chunk: "0,32,64,96,128,160,192,224,256,288,320,352,384,416,448,480,512,544,576,608,640,672,704,736,768,800,832,864,896,928,960,992", ["add {source}, 1024", "add {target}, 1024"],
            line: "0,32", ["add {source}, 64", "add {target}, 64"],
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
