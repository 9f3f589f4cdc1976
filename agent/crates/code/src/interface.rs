// What the library and the code of each level share: the functions of the system that the loops
// call, and the loops themselves. The build script copies this file into the source of each level.

use core::ffi::c_void;

/// The heap of the C library, `malloc` and `free`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Heap {
    pub allocate: unsafe extern "C" fn(usize) -> *mut c_void,
    pub free: unsafe extern "C" fn(*mut c_void),
}

/// Files by their names and descriptors: `open` (negative: it failed), `close` and `unlink` (not 0:
/// it failed). A name is whatever the system takes for one.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Files {
    pub open: unsafe extern "C" fn(*const c_void, u32) -> isize,
    pub close: unsafe extern "C" fn(isize) -> i32,
    pub remove: unsafe extern "C" fn(*const c_void) -> i32,
}

/// Streams of the C library: `fopen` (null: it failed) and `fclose` (not 0: it failed).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Streams {
    pub open: unsafe extern "C" fn(*const c_void, *const c_void) -> *mut c_void,
    pub close: unsafe extern "C" fn(*mut c_void) -> i32,
}

/// Processes: `fork` (0 in the child, negative: it failed), `_exit`, and `waitpid`, which yields the
/// child's exit status, or a negative number or more than 255 if it has none.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Processes {
    pub fork: unsafe extern "C" fn() -> i32,
    pub leave: unsafe extern "C" fn(i32) -> !,
    pub wait: unsafe extern "C" fn(i32) -> i32,
}

/// A pipe, by which a child sends a number: both yield 0 if all of it went through.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Pipe {
    pub send: unsafe extern "C" fn(isize, u64) -> i32,
    pub receive: unsafe extern "C" fn(isize, *mut u64) -> i32,
    pub to: isize,
    pub from: isize,
}

/// How far a loop over calls came.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Outcome {
    /// Calls that did what they should; of the styles the sum.
    pub correct: u64,
    /// Which call of a repetition failed, from 1 on, and ended the loop; 0: none. The system's error
    /// number is that of this call.
    pub failed: u32,
}

/// A loop over one arithmetic operation: iterations, the two operands as bits; the sum of the bits
/// of all results.
pub type Operation = extern "C" fn(u64, u64, u64) -> u64;

/// Every loop of one level.
#[repr(C)]
pub struct Loops {
    /// Safety: the pointer must point to so many integers that nobody else uses.
    pub write: unsafe extern "C" fn(*mut u32, usize, u32),
    /// Safety: the pointer must point to so many integers that nobody writes to.
    pub read: unsafe extern "C" fn(*const u32, usize) -> u32,
    /// Safety: the call must be safe to call.
    pub getpid: unsafe extern "C" fn(u64, unsafe extern "C" fn() -> i64, i64) -> Outcome,
    /// Safety: the heap must be a heap, the bytes not 0.
    pub malloc_free: unsafe extern "C" fn(u64, &Heap, usize) -> Outcome,
    /// Safety: the streams must be those of a C library, name and mode texts that end with NUL.
    pub fopen_fclose: unsafe extern "C" fn(u64, &Streams, *const c_void, *const c_void) -> Outcome,
    /// Safety: the files must be those of the system, and the name one that it takes.
    pub open_close: unsafe extern "C" fn(u64, &Files, *const c_void, u32) -> Outcome,
    /// Safety: as of `open_close`.
    pub create_delete: unsafe extern "C" fn(u64, &Files, *const c_void, u32) -> Outcome,
    /// Safety: the processes must be those of the system, and this one must have a single thread.
    pub fork_wait: unsafe extern "C" fn(u64, &Processes, i32) -> Outcome,
    /// Safety: the heap must be a heap.
    pub inline: unsafe extern "C" fn(&Heap, u64, usize) -> u64,
    /// Safety: the heap must be a heap.
    pub function: unsafe extern "C" fn(&Heap, u64, usize) -> u64,
    /// Safety: the heap must be a heap, the repetitions not 0; the last one takes the bytes of stack.
    pub recursion: unsafe extern "C" fn(&Heap, u64, usize, &mut usize) -> u64,
    /// Safety: all must be those of the system, and this process must have a single thread.
    pub forked: unsafe extern "C" fn(&Heap, &Processes, &Pipe, u64, usize) -> Outcome,
    /// By operation (add, subtract, multiply, divide) and type (i32, i64, f32, f64); none on an
    /// architecture for which they are not written down.
    pub operations: [[Option<Operation>; 4]; 4],
}
