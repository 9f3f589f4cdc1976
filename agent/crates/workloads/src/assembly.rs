//! The instructions of a loop in assembly, alike for x86-64 and 64-bit ARM.

/// Jumps to a label if a named register is zero.
#[cfg(target_arch = "x86_64")]
macro_rules! jump_if_zero {
    ($register:literal, $label:literal) => {
        concat!("test {", $register, "}, {", $register, "}\njz ", $label)
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! jump_if_zero {
    ($register:literal, $label:literal) => {
        concat!("cbz {", $register, "}, ", $label)
    };
}

/// Counts a named register down, and jumps to a label unless it is zero then.
#[cfg(target_arch = "x86_64")]
macro_rules! count_down {
    ($register:literal, $label:literal) => {
        concat!("dec {", $register, "}\njnz ", $label)
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! count_down {
    ($register:literal, $label:literal) => {
        concat!(
            "sub {",
            $register,
            "}, {",
            $register,
            "}, #1\ncbnz {",
            $register,
            "}, ",
            $label
        )
    };
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use {count_down, jump_if_zero};
