//! AVX2: 256-bit loads and stores, two per cache line.

super::vector::vector_loops! {
    name: "avx2",
    register: (32, "ymm", "ymmword"),
    moves: ("vmovdqa", "vmovdqu"),
    chunk: "0,256,512,768",
    line: "0,1",
    read: {
        clear: "vpxor xmm\\r, xmm\\r, xmm\\r",
        chunk: [
            ".irp d,0,128,256,384,512,640,768,896",
            ".irp r,0,1,2,3",
            "vpxor ymm\\r, ymm\\r, ymmword ptr [{at} + \\d + \\r*32]",
            ".endr",
            ".endr",
        ],
        line: [
            ".irp r,0,1",
            "vpxor ymm\\r, ymm\\r, ymmword ptr [{at} + \\r*32]",
            ".endr",
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
        clobbers: [],
    },
    spread: ["vmovq xmm0, {value}", "vpbroadcastq ymm0, xmm0"],
    after: ["vzeroupper"],
}
