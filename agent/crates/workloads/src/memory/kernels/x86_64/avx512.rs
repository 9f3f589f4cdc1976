//! AVX-512: 512-bit loads and stores, one per cache line.

use super::{passes, Kernels};

pub const KERNELS: Kernels = Kernels {
    name: "avx512",
    read,
    write,
    copy,
};

/// Half of the lines are loaded into registers, the other half by the instruction that adds both to
/// the accumulator (0x96: exclusive or of three). With one addition per load the two 512-bit ports
/// are the limit, not the loads.
fn read(block: &[u64], passes: u64) -> u64 {
    let mut lanes = [0u64; 8];
    // SAFETY: `named` hands these loops out only where AVX-512F exists.
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
                ".irp d,0,512",
                "vmovdqa64 zmm5, zmmword ptr [{at} + \\d]",
                "vpternlogq zmm0, zmm5, zmmword ptr [{at} + \\d + 64], 0x96",
                "vmovdqa64 zmm6, zmmword ptr [{at} + \\d + 128]",
                "vpternlogq zmm1, zmm6, zmmword ptr [{at} + \\d + 192], 0x96",
                "vmovdqa64 zmm7, zmmword ptr [{at} + \\d + 256]",
                "vpternlogq zmm2, zmm7, zmmword ptr [{at} + \\d + 320], 0x96",
                "vmovdqa64 zmm8, zmmword ptr [{at} + \\d + 384]",
                "vpternlogq zmm3, zmm8, zmmword ptr [{at} + \\d + 448], 0x96",
                ".endr",
                "add {at}, 1024",
            ],
            line: [
                "vpxorq zmm0, zmm0, zmmword ptr [{at}]",
                "add {at}, 64",
            ],
            end: [
                "vprolq zmm4, zmm4, 1",
                "vpternlogq zmm0, zmm1, zmm2, 0x96",
                "vpternlogq zmm4, zmm0, zmm3, 0x96",
            ],
            after: ["vmovdqu64 zmmword ptr [{lanes}], zmm4", "vzeroupper"];
            at = out(reg) _,
            block = in(reg) block.as_ptr(),
            lanes = in(reg) lanes.as_mut_ptr(),
            out("xmm0") _, out("xmm1") _, out("xmm2") _,
            out("xmm3") _, out("xmm4") _, out("xmm5") _,
            out("xmm6") _, out("xmm7") _, out("xmm8") _,
            options(nostack),
        );
    }
    lanes.iter().fold(0, |all, &lane| all ^ lane)
}

fn write(block: &mut [u64], mut value: u64, passes: u64) -> u64 {
    // SAFETY: `named` hands these loops out only where AVX-512F exists.
    // The loops write inside `block`, which is whole aligned lines, and clobber what is named.
    unsafe {
        passes!(size_of_val(block), passes;
            before: [],
            pass: [
                "mov {at}, {block}",
                "inc {value}",
                "vpbroadcastq zmm0, {value}",
            ],
            chunk: [
                ".irp d,0,512",
                "vmovdqa64 zmmword ptr [{at} + \\d], zmm0",
                "vmovdqa64 zmmword ptr [{at} + \\d + 64], zmm0",
                "vmovdqa64 zmmword ptr [{at} + \\d + 128], zmm0",
                "vmovdqa64 zmmword ptr [{at} + \\d + 192], zmm0",
                "vmovdqa64 zmmword ptr [{at} + \\d + 256], zmm0",
                "vmovdqa64 zmmword ptr [{at} + \\d + 320], zmm0",
                "vmovdqa64 zmmword ptr [{at} + \\d + 384], zmm0",
                "vmovdqa64 zmmword ptr [{at} + \\d + 448], zmm0",
                ".endr",
                "add {at}, 1024",
            ],
            line: [
                "vmovdqa64 zmmword ptr [{at}], zmm0",
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
    // SAFETY: `named` hands these loops out only where AVX-512F exists.
    // The loops read inside `from` and write inside `to`, which are of one length and whole aligned
    // lines, and clobber what is named.
    unsafe {
        passes!(size_of_val(from), passes;
            before: [],
            pass: ["mov {source}, {from}", "mov {target}, {to}"],
            chunk: [
                ".irp d,0,512",
                "vmovdqa64 zmm0, zmmword ptr [{source} + \\d]",
                "vmovdqa64 zmm1, zmmword ptr [{source} + \\d + 64]",
                "vmovdqa64 zmm2, zmmword ptr [{source} + \\d + 128]",
                "vmovdqa64 zmm3, zmmword ptr [{source} + \\d + 192]",
                "vmovdqa64 zmm4, zmmword ptr [{source} + \\d + 256]",
                "vmovdqa64 zmm5, zmmword ptr [{source} + \\d + 320]",
                "vmovdqa64 zmm6, zmmword ptr [{source} + \\d + 384]",
                "vmovdqa64 zmm7, zmmword ptr [{source} + \\d + 448]",
                "vmovdqa64 zmmword ptr [{target} + \\d], zmm0",
                "vmovdqa64 zmmword ptr [{target} + \\d + 64], zmm1",
                "vmovdqa64 zmmword ptr [{target} + \\d + 128], zmm2",
                "vmovdqa64 zmmword ptr [{target} + \\d + 192], zmm3",
                "vmovdqa64 zmmword ptr [{target} + \\d + 256], zmm4",
                "vmovdqa64 zmmword ptr [{target} + \\d + 320], zmm5",
                "vmovdqa64 zmmword ptr [{target} + \\d + 384], zmm6",
                "vmovdqa64 zmmword ptr [{target} + \\d + 448], zmm7",
                ".endr",
                "add {source}, 1024",
                "add {target}, 1024",
            ],
            line: [
                "vmovdqa64 zmm0, zmmword ptr [{source}]",
                "vmovdqa64 zmmword ptr [{target}], zmm0",
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
