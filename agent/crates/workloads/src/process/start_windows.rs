//! Starting a program by `CreateProcess`.

use super::program;
use pentathlon_harness::measure::Failure;
use pentathlon_os::child::{self, Child, Exit};
use std::io;

pub const NAME: &str = "nothing.exe";
/// The same in UTF-16, with its NUL.
const PATH: [u16; 12] = {
    let mut path = [0; 12];
    let mut at = 0;
    while at < NAME.len() {
        path[at] = NAME.as_bytes()[at] as u16;
        at += 1;
    }
    path
};

/// Writes the program.
pub fn install(image: &[u8]) -> io::Result<()> {
    std::fs::write(NAME, image)
}

/// Starts the program that was installed in the current directory.
#[inline(always)]
pub fn program() -> Result<Child, Failure> {
    child::start(&PATH).map_err(|e| Failure::system("CreateProcess in the scratch directory", &e))
}

/// What another end than the program's own means.
#[cold]
pub fn failed(exit: Exit) -> Failure {
    Failure::Invalid(format!(
        "the program should exit with {} and ended with {exit:?}",
        program::STATUS
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_the_name_with_its_nul() {
        let expected: Vec<u16> = NAME.encode_utf16().chain([0]).collect();
        assert_eq!(PATH[..], expected[..]);
    }
}
