//! SSE2: 128-bit loads and stores, four per cache line; every x86-64 CPU has them.

super::vector::vector_loops! {
    name: "sse2",
    register: (16, "xmm", "xmmword"),
    moves: ("movdqa", "movdqu"),
    chunk: "0,128,256,384,512,640,768,896",
    line: "0,1,2,3",
    read: {
        clear: "pxor xmm\\r, xmm\\r",
        chunk: [
            ".irp d,0,64,128,192,256,320,384,448,512,576,640,704,768,832,896,960",
            ".irp r,0,1,2,3",
            "pxor xmm\\r, xmmword ptr [{at} + \\d + \\r*16]",
            ".endr",
            ".endr",
        ],
        line: [
            ".irp r,0,1,2,3",
            "pxor xmm\\r, xmmword ptr [{at} + \\r*16]",
            ".endr",
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
        clobbers: [],
    },
    spread: ["movq xmm0, {value}", "punpcklqdq xmm0, xmm0"],
    after: [],
}
