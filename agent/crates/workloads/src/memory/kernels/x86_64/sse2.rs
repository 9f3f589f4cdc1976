//! SSE2: 128-bit loads and stores, four per cache line; every x86-64 CPU has them.

use super::{passes, Kernels};

pub const KERNELS: Kernels = Kernels {
    name: "sse2",
    read,
    write,
    copy,
};

fn read(block: &[u64], passes: u64) -> u64 {
    let mut lanes = [0u64; 2];
    // SAFETY: Every x86-64 CPU has SSE2.
    // The loops read inside `block`, which is whole aligned lines, write `lanes`, and clobber what
    // is named.
    unsafe {
        passes!(size_of_val(block), passes;
            before: ["pxor xmm4, xmm4"],
            pass: [
                "mov {at}, {block}",
                "pxor xmm0, xmm0",
                "pxor xmm1, xmm1",
                "pxor xmm2, xmm2",
                "pxor xmm3, xmm3",
            ],
            chunk: [
                ".irp d,0,64,128,192,256,320,384,448,512,576,640,704,768,832,896,960",
                "pxor xmm0, xmmword ptr [{at} + \\d]",
                "pxor xmm1, xmmword ptr [{at} + \\d + 16]",
                "pxor xmm2, xmmword ptr [{at} + \\d + 32]",
                "pxor xmm3, xmmword ptr [{at} + \\d + 48]",
                ".endr",
                "add {at}, 1024",
            ],
            line: [
                "pxor xmm0, xmmword ptr [{at}]",
                "pxor xmm1, xmmword ptr [{at} + 16]",
                "pxor xmm2, xmmword ptr [{at} + 32]",
                "pxor xmm3, xmmword ptr [{at} + 48]",
                "add {at}, 64",
            ],
            end: [
                "movdqa xmm5, xmm4",
                "psllq xmm5, 1",
                "psrlq xmm4, 63",
                "pxor xmm0, xmm1",
                "pxor xmm2, xmm3",
                "pxor xmm4, xmm5",
                "pxor xmm0, xmm2",
                "pxor xmm4, xmm0",
            ],
            after: ["movdqu xmmword ptr [{lanes}], xmm4"];
            at = out(reg) _,
            block = in(reg) block.as_ptr(),
            lanes = in(reg) lanes.as_mut_ptr(),
            out("xmm0") _, out("xmm1") _, out("xmm2") _,
            out("xmm3") _, out("xmm4") _, out("xmm5") _,
            options(nostack),
        );
    }
    lanes.iter().fold(0, |all, &lane| all ^ lane)
}

fn write(block: &mut [u64], mut value: u64, passes: u64) -> u64 {
    // SAFETY: Every x86-64 CPU has SSE2.
    // The loops write inside `block`, which is whole aligned lines, and clobber what is named.
    unsafe {
        passes!(size_of_val(block), passes;
            before: [],
            pass: [
                "mov {at}, {block}",
                "inc {value}",
                "movq xmm0, {value}",
                "punpcklqdq xmm0, xmm0",
            ],
            chunk: [
                ".irp d,0,128,256,384,512,640,768,896",
                "movdqa xmmword ptr [{at} + \\d], xmm0",
                "movdqa xmmword ptr [{at} + \\d + 16], xmm0",
                "movdqa xmmword ptr [{at} + \\d + 32], xmm0",
                "movdqa xmmword ptr [{at} + \\d + 48], xmm0",
                "movdqa xmmword ptr [{at} + \\d + 64], xmm0",
                "movdqa xmmword ptr [{at} + \\d + 80], xmm0",
                "movdqa xmmword ptr [{at} + \\d + 96], xmm0",
                "movdqa xmmword ptr [{at} + \\d + 112], xmm0",
                ".endr",
                "add {at}, 1024",
            ],
            line: [
                "movdqa xmmword ptr [{at}], xmm0",
                "movdqa xmmword ptr [{at} + 16], xmm0",
                "movdqa xmmword ptr [{at} + 32], xmm0",
                "movdqa xmmword ptr [{at} + 48], xmm0",
                "add {at}, 64",
            ],
            end: [],
            after: [];
            at = out(reg) _,
            block = in(reg) block.as_mut_ptr(),
            value = inout(reg) value,
            out("xmm0") _,
            options(nostack),
        );
    }
    value
}

fn copy(to: &mut [u64], from: &[u64], passes: u64) {
    // SAFETY: Every x86-64 CPU has SSE2.
    // The loops read inside `from` and write inside `to`, which are of one length and whole aligned
    // lines, and clobber what is named.
    unsafe {
        passes!(size_of_val(from), passes;
            before: [],
            pass: ["mov {source}, {from}", "mov {target}, {to}"],
            chunk: [
                ".irp d,0,128,256,384,512,640,768,896",
                "movdqa xmm0, xmmword ptr [{source} + \\d]",
                "movdqa xmm1, xmmword ptr [{source} + \\d + 16]",
                "movdqa xmm2, xmmword ptr [{source} + \\d + 32]",
                "movdqa xmm3, xmmword ptr [{source} + \\d + 48]",
                "movdqa xmm4, xmmword ptr [{source} + \\d + 64]",
                "movdqa xmm5, xmmword ptr [{source} + \\d + 80]",
                "movdqa xmm6, xmmword ptr [{source} + \\d + 96]",
                "movdqa xmm7, xmmword ptr [{source} + \\d + 112]",
                "movdqa xmmword ptr [{target} + \\d], xmm0",
                "movdqa xmmword ptr [{target} + \\d + 16], xmm1",
                "movdqa xmmword ptr [{target} + \\d + 32], xmm2",
                "movdqa xmmword ptr [{target} + \\d + 48], xmm3",
                "movdqa xmmword ptr [{target} + \\d + 64], xmm4",
                "movdqa xmmword ptr [{target} + \\d + 80], xmm5",
                "movdqa xmmword ptr [{target} + \\d + 96], xmm6",
                "movdqa xmmword ptr [{target} + \\d + 112], xmm7",
                ".endr",
                "add {source}, 1024",
                "add {target}, 1024",
            ],
            line: [
                "movdqa xmm0, xmmword ptr [{source}]",
                "movdqa xmm1, xmmword ptr [{source} + 16]",
                "movdqa xmm2, xmmword ptr [{source} + 32]",
                "movdqa xmm3, xmmword ptr [{source} + 48]",
                "movdqa xmmword ptr [{target}], xmm0",
                "movdqa xmmword ptr [{target} + 16], xmm1",
                "movdqa xmmword ptr [{target} + 32], xmm2",
                "movdqa xmmword ptr [{target} + 48], xmm3",
                "add {source}, 64",
                "add {target}, 64",
            ],
            end: [],
            after: [];
            source = out(reg) _,
            target = out(reg) _,
            from = in(reg) from.as_ptr(),
            to = in(reg) to.as_mut_ptr(),
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            options(nostack),
        );
    }
}
