//! Straight-line code of a known size, the same source compiled at the optimisation levels 0 to 3.
//!
//! Every function updates four numbers with constants of its own, without a loop or a branch, so
//! that all of its bytes are fetched and executed once per call. A prefix of a level's functions is
//! a piece of code of any size; its bytes are taken from the functions' addresses.

mod constants;

use constants::{constant, ROUNDS};

include!(concat!(env!("OUT_DIR"), "/counts.rs"));

/// The four numbers that the functions work on.
pub type State = [u64; 4];

type Function = extern "C" fn(&mut State);

macro_rules! level {
    ($functions:ident, $table:ident, $write:ident, $read:ident) => {
        extern "C" {
            static $table: [Function; $functions];
            fn $write(data: *mut u32, count: usize, pass: u32);
            fn $read(data: *const u32, count: usize) -> u32;
        }
    };
}

level!(
    FUNCTIONS_O0,
    PENTATHLON_CODE_O0,
    pentathlon_code_write_o0,
    pentathlon_code_read_o0
);
level!(
    FUNCTIONS_O1,
    PENTATHLON_CODE_O1,
    pentathlon_code_write_o1,
    pentathlon_code_read_o1
);
level!(
    FUNCTIONS_O2,
    PENTATHLON_CODE_O2,
    pentathlon_code_write_o2,
    pentathlon_code_read_o2
);
level!(
    FUNCTIONS_O3,
    PENTATHLON_CODE_O3,
    pentathlon_code_write_o3,
    pentathlon_code_read_o3
);

/// Everything that was compiled at one level.
#[derive(Clone, Copy)]
pub struct Level {
    /// "0" to "3".
    pub name: &'static str,
    /// The functions; the last one is never run, its address is where the one before it ends.
    table: &'static [Function],
    write: unsafe extern "C" fn(*mut u32, usize, u32),
    read: unsafe extern "C" fn(*const u32, usize) -> u32,
}

/// The four levels.
pub fn levels() -> [Level; 4] {
    // SAFETY: the tables are constants of the objects that the build script made, with these types
    // and lengths.
    unsafe {
        [
            Level {
                name: "0",
                table: &PENTATHLON_CODE_O0,
                write: pentathlon_code_write_o0,
                read: pentathlon_code_read_o0,
            },
            Level {
                name: "1",
                table: &PENTATHLON_CODE_O1,
                write: pentathlon_code_write_o1,
                read: pentathlon_code_read_o1,
            },
            Level {
                name: "2",
                table: &PENTATHLON_CODE_O2,
                write: pentathlon_code_write_o2,
                read: pentathlon_code_read_o2,
            },
            Level {
                name: "3",
                table: &PENTATHLON_CODE_O3,
                write: pentathlon_code_write_o3,
                read: pentathlon_code_read_o3,
            },
        ]
    }
}

impl Level {
    /// How many functions there are.
    pub fn functions(&self) -> usize {
        self.table.len() - 1
    }

    /// The bytes of the first so many functions, from their first to the first of the next: index
    /// 0 holds 0. None if the linker laid them out in another order or put other code between them.
    pub fn bytes(&self) -> Option<Vec<usize>> {
        let first = self.table[0] as usize;
        let ends: Option<Vec<usize>> = self
            .table
            .iter()
            .map(|&function| (function as usize).checked_sub(first))
            .collect();
        let ends = ends?;
        let steps = ends.windows(2).map(|pair| pair[1].checked_sub(pair[0]));
        let steps: Option<Vec<usize>> = steps.collect();
        let steps = steps?;
        // The functions differ by their constants alone; a gap would be a long "function".
        let (least, most) = (steps.iter().min()?, steps.iter().max()?);
        (*least > 0 && *most <= 2 * *least).then_some(ends)
    }

    /// Calls the first `functions` one after the other, `passes` times.
    pub fn run(&self, functions: usize, passes: u64, state: &mut State) {
        let piece = &self.table[..functions.min(self.functions())];
        for _ in 0..passes {
            for function in piece {
                function(state);
            }
        }
    }

    /// Stores `pass + index` in every element of `data`.
    pub fn write(&self, data: &mut [u32], pass: u32) {
        // SAFETY: the slice is borrowed mutably, and its length is passed.
        unsafe { (self.write)(data.as_mut_ptr(), data.len(), pass) }
    }

    /// The wrapping sum of all elements of `data`.
    pub fn read(&self, data: &[u32]) -> u32 {
        // SAFETY: the slice is borrowed, and its length is passed.
        unsafe { (self.read)(data.as_ptr(), data.len()) }
    }
}

/// What [`Level::run`] makes of `state`, computed from the constants.
pub fn expected(functions: usize, passes: u64, mut state: State) -> State {
    for _ in 0..passes {
        for function in 0..functions {
            for round in 0..ROUNDS {
                for lane in 0..4 {
                    let mixed = state[lane] ^ constant(function, round, lane);
                    state[lane] = mixed.wrapping_add(state[(lane + 1) % 4]);
                }
            }
        }
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: State = [1, 2, 3, 4];

    #[test]
    fn every_level_computes_what_the_constants_say() {
        for level in levels() {
            for (functions, passes) in [(0, 3), (1, 1), (7, 2), (480, 1)] {
                let mut state = START;
                level.run(functions, passes, &mut state);
                assert_eq!(
                    state,
                    expected(functions, passes, START),
                    "level {} {functions} {passes}",
                    level.name
                );
            }
        }
    }

    #[test]
    fn another_function_gives_another_result() {
        assert_ne!(expected(5, 1, START), expected(6, 1, START));
        assert_ne!(expected(5, 1, START), expected(5, 2, START));
    }

    #[test]
    fn the_code_is_as_large_as_the_sizes_asked_for_by_default() {
        for level in levels() {
            let bytes = level.bytes().expect("functions lie side by side");
            assert_eq!(bytes.len(), level.functions() + 1);
            let each = bytes[1];
            println!(
                "level {}: {} functions, {} B, the first {each} B",
                level.name,
                level.functions(),
                bytes[level.functions()]
            );
            if cfg!(target_arch = "x86_64") {
                assert!(bytes[level.functions()] >= 1020 << 10);
                assert!((256..8192).contains(&each), "{each}");
            }
        }
    }

    #[test]
    fn optimised_code_is_smaller() {
        let [none, some, ..] = levels().map(|level| level.bytes().unwrap()[100]);
        assert!(some < none, "{some} {none}");
    }

    #[test]
    fn the_loops_store_and_add_up_every_element() {
        for level in levels() {
            for count in [0, 1, 7, 64, 1000] {
                let mut data = vec![u32::MAX; count + 1];
                level.write(&mut data[..count], u32::MAX - 3);
                for (index, &value) in data[..count].iter().enumerate() {
                    assert_eq!(
                        value,
                        (index as u32).wrapping_sub(4),
                        "level {}",
                        level.name
                    );
                }
                assert_eq!(data[count], u32::MAX, "nothing behind the block");
                let sum = data[..count]
                    .iter()
                    .fold(0u32, |sum, &v| sum.wrapping_add(v));
                assert_eq!(level.read(&data[..count]), sum);
            }
        }
    }
}
