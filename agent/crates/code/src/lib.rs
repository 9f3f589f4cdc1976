//! Straight-line code of a known size and the loops of venkata2003, the same source compiled at the
//! optimisation levels 0 to 3.
//!
//! Every function updates four numbers with constants of its own, without a loop or a branch, so
//! that all of its bytes are fetched and executed once per call. A prefix of a level's functions is
//! a piece of code of any size; its bytes are taken from the functions' addresses.
//!
//! The build script compiles the loops and the functions by themselves, so they are reached through
//! `unsafe` declarations: all of them are in this crate, beside the loops.
#![allow(unsafe_code)]

mod constants;
mod interface;

use constants::{constant, ROUNDS};
pub use interface::{Files, Heap, Loops, Operation, Outcome, Pipe, Processes, Streams};

include!(concat!(env!("OUT_DIR"), "/counts.rs"));

/// The four numbers that the functions work on.
pub type State = [u64; 4];

/// One of the functions.
pub type Function = extern "C" fn(&mut State);

extern "C" {
    static PENTATHLON_CODE_O0: [Function; FUNCTIONS_O0];
    static PENTATHLON_CODE_O1: [Function; FUNCTIONS_O1];
    static PENTATHLON_CODE_O2: [Function; FUNCTIONS_O2];
    static PENTATHLON_CODE_O3: [Function; FUNCTIONS_O3];
    static PENTATHLON_LOOPS_O0: Loops;
    static PENTATHLON_LOOPS_O1: Loops;
    static PENTATHLON_LOOPS_O2: Loops;
    static PENTATHLON_LOOPS_O3: Loops;
}

/// Everything that was compiled at one level.
#[derive(Clone, Copy)]
pub struct Level {
    /// "0" to "3".
    pub name: &'static str,
    /// The functions; the last one is never run, its address is where the one before it ends.
    table: &'static [Function],
    /// The loops over calls.
    pub loops: &'static Loops,
}

/// The four levels.
pub fn levels() -> [Level; 4] {
    let level = |name, table, loops| Level { name, table, loops };
    // SAFETY: the tables are constants of the objects that the build script made, with these types
    // and lengths.
    unsafe {
        [
            level("0", &PENTATHLON_CODE_O0, &PENTATHLON_LOOPS_O0),
            level("1", &PENTATHLON_CODE_O1, &PENTATHLON_LOOPS_O1),
            level("2", &PENTATHLON_CODE_O2, &PENTATHLON_LOOPS_O2),
            level("3", &PENTATHLON_CODE_O3, &PENTATHLON_LOOPS_O3),
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

    /// The first so many functions.
    pub fn piece(&self, functions: usize) -> &'static [Function] {
        &self.table[..functions.min(self.functions())]
    }

    /// The machine code of all functions, for copies of it elsewhere: it names no address, which
    /// is so on x86-64. None on other architectures, and if the functions do not lie side by side.
    pub fn machine_code(&self) -> Option<&'static [u8]> {
        let ends = self.bytes().filter(|_| cfg!(target_arch = "x86_64"))?;
        // SAFETY: from the first function to where the last one begins lies this level's text,
        // which can be read as long as the program runs.
        Some(unsafe { std::slice::from_raw_parts(self.table[0] as *const u8, *ends.last()?) })
    }

    /// The functions of `copies` of the machine code that follow each other.
    ///
    /// # Safety
    /// The copies must begin at `start` and can be executed as long as the functions are called.
    pub unsafe fn copied(&self, start: *const u8, copies: usize) -> Vec<Function> {
        let ends = self.bytes().unwrap_or_default();
        let (last, begins) = ends.split_last().expect("there is a function");
        let of = |copy: usize, begin: &usize| {
            // SAFETY: a copy of a function of this type, as the caller promises.
            unsafe { std::mem::transmute::<*const u8, Function>(start.add(copy * last + begin)) }
        };
        (0..copies)
            .flat_map(|copy| begins.iter().map(move |begin| of(copy, begin)))
            .collect()
    }

    /// Stores `pass + index` in every element of `data`.
    pub fn write(&self, data: &mut [u32], pass: u32) {
        // SAFETY: the slice is borrowed mutably, and its length is passed.
        unsafe { (self.loops.write)(data.as_mut_ptr(), data.len(), pass) }
    }

    /// The wrapping sum of all elements of `data`.
    pub fn read(&self, data: &[u32]) -> u32 {
        // SAFETY: the slice is borrowed, and its length is passed.
        unsafe { (self.loops.read)(data.as_ptr(), data.len()) }
    }
}

/// Loops that need more than a call.
impl Level {
    /// The sum and the bytes of stack that the calls took.
    ///
    /// # Safety
    /// `heap` must be a heap, `repetitions` not 0.
    pub unsafe fn recursion(&self, heap: &Heap, repetitions: u64, size: usize) -> (u64, usize) {
        let mut stack = 0;
        // SAFETY: the caller promises.
        let sum = unsafe { (self.loops.recursion)(heap, repetitions, size, &mut stack) };
        (sum, stack)
    }

    /// The loop over one operation, by its place among add, subtract, multiply and divide, and that
    /// of its type among i32, i64, f32 and f64. No integer may be divided by 0, nor the least by -1.
    /// None on an architecture for which it is not written down.
    pub fn operation(&self, operation: usize, kind: usize) -> Option<Operation> {
        self.loops.operations[operation][kind]
    }
}

/// Calls the functions one after the other, `passes` times.
pub fn run(functions: &[Function], passes: u64, state: &mut State) {
    for _ in 0..passes {
        for function in functions {
            function(state);
        }
    }
}

/// What [`run`] makes of `state`, computed from the constants: the first `functions` of copies that
/// have `distinct` each.
pub fn expected(functions: usize, distinct: usize, passes: u64, mut state: State) -> State {
    for _ in 0..passes {
        for function in (0..functions).map(|place| place % distinct) {
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
    use std::ffi::c_void;

    const START: State = [1, 2, 3, 4];

    #[test]
    fn every_level_computes_what_the_constants_say() {
        for level in levels() {
            for (functions, passes) in [(0, 3), (1, 1), (7, 2), (480, 1)] {
                let mut state = START;
                run(level.piece(functions), passes, &mut state);
                assert_eq!(
                    state,
                    expected(functions, level.functions(), passes, START),
                    "level {} {functions} {passes}",
                    level.name
                );
            }
        }
    }

    #[test]
    fn another_function_gives_another_result() {
        assert_ne!(expected(5, 9, 1, START), expected(6, 9, 1, START));
        assert_ne!(expected(5, 9, 1, START), expected(5, 9, 2, START));
        assert_ne!(expected(5, 9, 1, START), expected(5, 4, 1, START));
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

    extern "C" fn one_to_three() -> i64 {
        COUNTED.with(|count| {
            count.set(count.get() + 1);
            count.get() % 3
        })
    }

    thread_local! {
        static COUNTED: std::cell::Cell<i64> = const { std::cell::Cell::new(0) };
    }

    #[test]
    fn only_correct_calls_are_counted() {
        for level in levels() {
            COUNTED.set(0);
            // SAFETY: the call only counts.
            let outcome = unsafe { (level.loops.getpid)(10, one_to_three, 1) };
            assert_eq!((outcome.correct, outcome.failed), (4, 0), "{}", level.name);
            assert_eq!(COUNTED.get(), 10, "every call is made");
        }
    }

    extern "C" fn allocate(bytes: usize) -> *mut c_void {
        if COUNTED.replace(COUNTED.get() + 1) == 3 {
            return std::ptr::null_mut();
        }
        Box::into_raw(vec![0u64; bytes.div_ceil(8) + 1].into_boxed_slice()).cast()
    }

    /// # Safety
    /// `block` must come from `allocate`, for up to eight bytes.
    unsafe extern "C" fn free(block: *mut c_void) {
        // SAFETY: what `allocate` gave; two words hold all that the tests request.
        drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(block.cast::<u64>(), 2)) });
    }

    const HEAP: Heap = Heap { allocate, free };

    #[test]
    fn a_block_that_is_not_given_ends_the_loop() {
        for level in levels() {
            for bytes in [1, 2, 8] {
                COUNTED.set(0);
                // SAFETY: a heap for up to eight bytes.
                let outcome = unsafe { (level.loops.malloc_free)(10, &HEAP, bytes) };
                assert_eq!((outcome.correct, outcome.failed), (3, 1), "{}", level.name);
            }
        }
    }

    extern "C" fn fork() -> i32 {
        7
    }

    extern "C" fn leave(_status: i32) -> ! {
        std::process::abort()
    }

    extern "C" fn wait(child: i32) -> i32 {
        COUNTED.set(COUNTED.get() + 1);
        match COUNTED.get() {
            5 => -1,
            3 => 256 + 9,
            _ => 35 + child,
        }
    }

    #[test]
    fn a_child_that_ends_otherwise_is_not_correct() {
        let processes = Processes { fork, leave, wait };
        for level in levels() {
            // The third of four is killed; another status is not what was requested.
            for (status, correct) in [(42, 3), (0, 0)] {
                COUNTED.set(0);
                // SAFETY: no process is made.
                let outcome = unsafe { (level.loops.fork_wait)(4, &processes, status) };
                assert_eq!((outcome.correct, outcome.failed), (correct, 0));
            }
            COUNTED.set(0);
            // SAFETY: as above.
            let outcome = unsafe { (level.loops.fork_wait)(10, &processes, 42) };
            assert_eq!((outcome.correct, outcome.failed), (3, 2), "waiting failed");
        }
    }

    #[test]
    fn an_operation_is_done_as_often_as_asked() {
        for level in levels() {
            for (place, result) in [(0, 26), (1, 12), (2, 133), (3, 2)] {
                for kind in 0..4 {
                    let Some(operation) = level.operation(place, kind) else {
                        return;
                    };
                    let bits = |number: u64| match kind {
                        2 => u64::from((number as f32).to_bits()),
                        3 => (number as f64).to_bits(),
                        _ => number,
                    };
                    let (first, second) = if place == 3 { (14, 7) } else { (19, 7) };
                    for iterations in [0, 1, 1000] {
                        assert_eq!(
                            operation(iterations, bits(first), bits(second)),
                            bits(result).wrapping_mul(iterations),
                            "level {} operation {place} type {kind}",
                            level.name
                        );
                    }
                }
            }
        }
    }
}
