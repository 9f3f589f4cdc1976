//! AVX-512: 512-bit loads and stores, one per cache line.
//!
//! To read, half of the lines are loaded into registers, the other half by the instruction that adds
//! both to the accumulator (0x96: exclusive or of three). With one addition per load the two 512-bit
//! ports are the limit, not the loads.

super::vector::vector_loops! {
    name: "avx512",
    register: (64, "zmm", "zmmword"),
    moves: ("vmovdqa64", "vmovdqu64"),
    chunk: "0,512",
    line: "0",
    read: {
        clear: "vpxor xmm\\r, xmm\\r, xmm\\r",
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
        ],
        line: ["vpxorq zmm0, zmm0, zmmword ptr [{at}]"],
        end: [
            "vprolq zmm4, zmm4, 1",
            "vpternlogq zmm0, zmm1, zmm2, 0x96",
            "vpternlogq zmm4, zmm0, zmm3, 0x96",
        ],
        clobbers: [out("xmm6") _, out("xmm7") _, out("xmm8") _,],
    },
    spread: ["vpbroadcastq zmm0, {value}"],
    after: ["vzeroupper"],
}
