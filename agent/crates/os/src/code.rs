//! Code that is larger than what the program holds: copies of a level's functions in memory of their
//! own, which the system lets be executed.

use crate::mmap::Mapping;
use pentathlon_code::{Function, Level};
use std::io;

/// Copies of all functions of a level, side by side, until dropped.
pub struct Copies {
    functions: Vec<Function>,
    _memory: Mapping,
}

impl Copies {
    /// At least `bytes` of code.
    ///
    /// # Errors
    /// `Unsupported` where the code cannot be moved; else what the system says to memory that is
    /// written first and executed then.
    #[inline]
    pub fn of(level: &Level, bytes: usize) -> io::Result<Self> {
        let code = level.machine_code().ok_or(io::ErrorKind::Unsupported)?;
        let copies = bytes.div_ceil(code.len());
        let mut memory = Mapping::anonymous(copies * code.len())?;
        let start = memory.execute(code)?;
        // SAFETY: the memory holds so many copies, and is kept as long as the functions are.
        let functions = unsafe { level.copied(start, copies) };
        Ok(Self {
            functions,
            _memory: memory,
        })
    }

    /// The functions, in the order of their addresses.
    #[inline]
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use pentathlon_code::{expected, levels, run};

    #[test]
    fn copied_functions_do_what_their_originals_do() {
        for level in levels() {
            let distinct = level.functions();
            let size = level.machine_code().unwrap().len();
            let copies = Copies::of(&level, size + 1).unwrap();
            assert_eq!(copies.functions().len(), 2 * distinct);
            // A little beyond the first copy, and another place in it.
            for functions in [7, distinct + 9] {
                let mut state = [5, 6, 7, 8];
                run(&copies.functions()[..functions], 2, &mut state);
                let wanted = expected(functions, distinct, 2, [5, 6, 7, 8]);
                assert_eq!(state, wanted, "level {}", level.name);
            }
            let begins = copies.functions()[distinct] as usize;
            assert_eq!(begins - copies.functions()[0] as usize, size);
        }
    }
}
