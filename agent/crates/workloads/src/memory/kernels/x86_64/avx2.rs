//! AVX2: 256-bit loads and stores, two per cache line.

use super::{passes, Kernels};

pub const KERNELS: Kernels = Kernels {
    name: "avx2",
    read,
    write,
    copy,
};

fn read(block: &[u64], passes: u64) -> u64 {
    let mut lanes = [0u64; 4];
    // SAFETY: `named` hands these loops out only where AVX2 exists.
    // The loops read inside `block`, which is whole aligned lines, write `lanes`, and clobber what
    // is named.
    unsafe {
        passes!(size_of_val(block), passes;
            before: ["vpxor xmm4, xmm4, xmm4"],
            pass: [
                "mov {at}, {block}",
                "vpxor xmm0, xmm0, xmm0",
                "vpxor xmm1, xmm1, xmm1",
                "vpxor xmm2, xmm2, xmm2",
                "vpxor xmm3, xmm3, xmm3",
            ],
            chunk: [
                ".irp d,0,128,256,384,512,640,768,896",
                "vpxor ymm0, ymm0, ymmword ptr [{at} + \\d]",
                "vpxor ymm1, ymm1, ymmword ptr [{at} + \\d + 32]",
                "vpxor ymm2, ymm2, ymmword ptr [{at} + \\d + 64]",
                "vpxor ymm3, ymm3, ymmword ptr [{at} + \\d + 96]",
                ".endr",
                "add {at}, 1024",
            ],
            line: [
                "vpxor ymm0, ymm0, ymmword ptr [{at}]",
                "vpxor ymm1, ymm1, ymmword ptr [{at} + 32]",
                "add {at}, 64",
            ],
            end: [
                "vpsllq ymm5, ymm4, 1",
                "vpsrlq ymm4, ymm4, 63",
                "vpxor ymm0, ymm0, ymm1",
                "vpxor ymm2, ymm2, ymm3",
                "vpxor ymm4, ymm4, ymm5",
                "vpxor ymm0, ymm0, ymm2",
                "vpxor ymm4, ymm4, ymm0",
            ],
            after: ["vmovdqu ymmword ptr [{lanes}], ymm4", "vzeroupper"];
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
    // SAFETY: `named` hands these loops out only where AVX2 exists.
    // The loops write inside `block`, which is whole aligned lines, and clobber what is named.
    unsafe {
        passes!(size_of_val(block), passes;
            before: [],
            pass: [
                "mov {at}, {block}",
                "inc {value}",
                "vmovq xmm0, {value}",
                "vpbroadcastq ymm0, xmm0",
            ],
            chunk: [
                ".irp d,0,256,512,768",
                "vmovdqa ymmword ptr [{at} + \\d], ymm0",
                "vmovdqa ymmword ptr [{at} + \\d + 32], ymm0",
                "vmovdqa ymmword ptr [{at} + \\d + 64], ymm0",
                "vmovdqa ymmword ptr [{at} + \\d + 96], ymm0",
                "vmovdqa ymmword ptr [{at} + \\d + 128], ymm0",
                "vmovdqa ymmword ptr [{at} + \\d + 160], ymm0",
                "vmovdqa ymmword ptr [{at} + \\d + 192], ymm0",
                "vmovdqa ymmword ptr [{at} + \\d + 224], ymm0",
                ".endr",
                "add {at}, 1024",
            ],
            line: [
                "vmovdqa ymmword ptr [{at}], ymm0",
                "vmovdqa ymmword ptr [{at} + 32], ymm0",
                "add {at}, 64",
            ],
            end: [],
            after: ["vzeroupper"];
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
    // SAFETY: `named` hands these loops out only where AVX2 exists.
    // The loops read inside `from` and write inside `to`, which are of one length and whole aligned
    // lines, and clobber what is named.
    unsafe {
        passes!(size_of_val(from), passes;
            before: [],
            pass: ["mov {source}, {from}", "mov {target}, {to}"],
            chunk: [
                ".irp d,0,256,512,768",
                "vmovdqa ymm0, ymmword ptr [{source} + \\d]",
                "vmovdqa ymm1, ymmword ptr [{source} + \\d + 32]",
                "vmovdqa ymm2, ymmword ptr [{source} + \\d + 64]",
                "vmovdqa ymm3, ymmword ptr [{source} + \\d + 96]",
                "vmovdqa ymm4, ymmword ptr [{source} + \\d + 128]",
                "vmovdqa ymm5, ymmword ptr [{source} + \\d + 160]",
                "vmovdqa ymm6, ymmword ptr [{source} + \\d + 192]",
                "vmovdqa ymm7, ymmword ptr [{source} + \\d + 224]",
                "vmovdqa ymmword ptr [{target} + \\d], ymm0",
                "vmovdqa ymmword ptr [{target} + \\d + 32], ymm1",
                "vmovdqa ymmword ptr [{target} + \\d + 64], ymm2",
                "vmovdqa ymmword ptr [{target} + \\d + 96], ymm3",
                "vmovdqa ymmword ptr [{target} + \\d + 128], ymm4",
                "vmovdqa ymmword ptr [{target} + \\d + 160], ymm5",
                "vmovdqa ymmword ptr [{target} + \\d + 192], ymm6",
                "vmovdqa ymmword ptr [{target} + \\d + 224], ymm7",
                ".endr",
                "add {source}, 1024",
                "add {target}, 1024",
            ],
            line: [
                "vmovdqa ymm0, ymmword ptr [{source}]",
                "vmovdqa ymm1, ymmword ptr [{source} + 32]",
                "vmovdqa ymmword ptr [{target}], ymm0",
                "vmovdqa ymmword ptr [{target} + 32], ymm1",
                "add {source}, 64",
                "add {target}, 64",
            ],
            end: [],
            after: ["vzeroupper"];
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
