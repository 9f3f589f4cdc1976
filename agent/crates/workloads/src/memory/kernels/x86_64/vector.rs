//! The loops of vector instructions: what differs from one set to the next is given by its module.

/// Read, write and copy with one set of vector instructions, and their constant `KERNELS`.
///
/// In the template, `\\r` is the number of a register and `\\d` an offset in the block.
macro_rules! vector_loops {
    (
        name: $name:literal,
        // A register: its bytes, and how the assembler calls it and as much memory.
        register: ($bytes:literal, $register:literal, $memory:literal),
        // Loads and stores an aligned register, and stores one anywhere.
        moves: ($aligned:literal, $anywhere:literal),
        // Offsets of eight registers each in a chunk, and the registers of a line.
        chunk: $offsets:literal,
        line: $line:literal,
        read: {
            clear: $clear:literal,
            chunk: [$($read_chunk:expr),* $(,)?],
            line: [$($read_line:expr),* $(,)?],
            end: [$($read_end:expr),* $(,)?],
            // Registers beside the first six.
            clobbers: [$($clobbers:tt)*],
        },
        // Makes all words of register 0 the value.
        spread: [$($spread:expr),* $(,)?],
        after: [$($after:expr),* $(,)?],
    ) => {
        use super::{passes, Kernels};

        pub const KERNELS: Kernels = Kernels {
            name: $name,
            read,
            write,
            copy,
        };

        fn read(block: &[u64], passes: u64) -> u64 {
            let mut lanes = [0u64; $bytes / 8];
            // SAFETY: `named` hands these loops out only where their instructions exist.
            // The loops read inside `block`, which is whole aligned lines, write `lanes`, and
            // clobber what is named.
            unsafe {
                passes!(size_of_val(block), passes;
                    before: [".irp r,4", $clear, ".endr"],
                    pass: ["mov {at}, {block}", ".irp r,0,1,2,3", $clear, ".endr"],
                    chunk: [$($read_chunk,)* "add {at}, 1024"],
                    line: [$($read_line,)* "add {at}, 64"],
                    end: [$($read_end),*],
                    after: [
                        concat!($anywhere, " ", $memory, " ptr [{lanes}], ", $register, "4"),
                        $($after),*
                    ];
                    at = out(reg) _,
                    block = in(reg) block.as_ptr(),
                    lanes = in(reg) lanes.as_mut_ptr(),
                    out("xmm0") _, out("xmm1") _, out("xmm2") _,
                    out("xmm3") _, out("xmm4") _, out("xmm5") _,
                    $($clobbers)*
                    options(nostack),
                );
            }
            lanes.iter().fold(0, |all, &lane| all ^ lane)
        }

        fn write(block: &mut [u64], mut value: u64, passes: u64) -> u64 {
            // SAFETY: `named` hands these loops out only where their instructions exist.
            // The loops write inside `block`, which is whole aligned lines, and clobber what is
            // named.
            unsafe {
                passes!(size_of_val(block), passes;
                    before: [],
                    pass: ["mov {at}, {block}", "inc {value}", $($spread),*],
                    chunk: [
                        concat!(".irp d,", $offsets),
                        ".irp r,0,1,2,3,4,5,6,7",
                        concat!(
                            $aligned, " ", $memory, " ptr [{at} + \\d + \\r*", $bytes, "], ",
                            $register, "0"
                        ),
                        ".endr",
                        ".endr",
                        "add {at}, 1024",
                    ],
                    line: [
                        concat!(".irp r,", $line),
                        concat!(
                            $aligned, " ", $memory, " ptr [{at} + \\r*", $bytes, "], ",
                            $register, "0"
                        ),
                        ".endr",
                        "add {at}, 64",
                    ],
                    end: [],
                    after: [$($after),*];
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
            // SAFETY: `named` hands these loops out only where their instructions exist.
            // The loops read inside `from` and write inside `to`, which are of one length and whole
            // aligned lines, and clobber what is named.
            unsafe {
                passes!(size_of_val(from), passes;
                    before: [],
                    pass: ["mov {source}, {from}", "mov {target}, {to}"],
                    chunk: [
                        concat!(".irp d,", $offsets),
                        ".irp r,0,1,2,3,4,5,6,7",
                        concat!(
                            $aligned, " ", $register, "\\r, ",
                            $memory, " ptr [{source} + \\d + \\r*", $bytes, "]"
                        ),
                        ".endr",
                        ".irp r,0,1,2,3,4,5,6,7",
                        concat!(
                            $aligned, " ", $memory, " ptr [{target} + \\d + \\r*", $bytes, "], ",
                            $register, "\\r"
                        ),
                        ".endr",
                        ".endr",
                        "add {source}, 1024",
                        "add {target}, 1024",
                    ],
                    line: [
                        concat!(".irp r,", $line),
                        concat!(
                            $aligned, " ", $register, "\\r, ",
                            $memory, " ptr [{source} + \\r*", $bytes, "]"
                        ),
                        ".endr",
                        concat!(".irp r,", $line),
                        concat!(
                            $aligned, " ", $memory, " ptr [{target} + \\r*", $bytes, "], ",
                            $register, "\\r"
                        ),
                        ".endr",
                        "add {source}, 64",
                        "add {target}, 64",
                    ],
                    end: [],
                    after: [$($after),*];
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
    };
}
pub(super) use vector_loops;
