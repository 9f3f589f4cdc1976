// The loops of venkata2003, figure 25, over calls of the system and of the C library: compiled once
// per level. Each call is checked. What is called is given by pointers, so that no level knows what
// it does. Methods of the standard library are left out where level 0 would call them as functions.

const DONE: u32 = 0;

/// # Safety
/// `call` must be safe to call.
unsafe extern "C" fn getpid(
    operations: u64,
    call: unsafe extern "C" fn() -> i64,
    expected: i64,
) -> Outcome {
    let mut correct = 0;
    let mut done = 0;
    while done < operations {
        // SAFETY: the caller promises.
        if unsafe { call() } == expected {
            correct += 1;
        }
        done += 1;
    }
    Outcome { correct, failed: DONE }
}

/// Writes the first and the last byte of each block and reads them back.
///
/// # Safety
/// `heap` must be a heap, `bytes` not 0.
unsafe extern "C" fn malloc_free(operations: u64, heap: &Heap, bytes: usize) -> Outcome {
    let mut correct = 0;
    let mut done = 0;
    while done < operations {
        // SAFETY: both places lie in the block, which is freed once.
        unsafe {
            let block = (heap.allocate)(bytes) as *mut u8;
            if block as usize == 0 {
                return Outcome { correct, failed: 1 };
            }
            let first = done as u8;
            let last = if bytes == 1 { first } else { !first };
            let end = block.add(bytes - 1);
            *block = first;
            *end = last;
            // The bytes could have been changed meanwhile, so they must be written and read again.
            asm!("", options(nostack, preserves_flags));
            if *block == first && *end == last {
                correct += 1;
            }
            (heap.free)(block as *mut c_void);
        }
        done += 1;
    }
    Outcome { correct, failed: DONE }
}

/// # Safety
/// `streams` must be those of a C library, `name` and `mode` texts that end with NUL.
unsafe extern "C" fn fopen_fclose(
    operations: u64,
    streams: &Streams,
    name: *const c_void,
    mode: *const c_void,
) -> Outcome {
    let mut done = 0;
    while done < operations {
        // SAFETY: the caller promises; each stream is closed once.
        unsafe {
            let stream = (streams.open)(name, mode);
            if stream as usize == 0 {
                return Outcome { correct: done, failed: 1 };
            }
            if (streams.close)(stream) != 0 {
                return Outcome { correct: done, failed: 2 };
            }
        }
        done += 1;
    }
    Outcome { correct: done, failed: DONE }
}

/// # Safety
/// `files` must be those of the system, and `name` a name that it takes.
unsafe extern "C" fn open_close(
    operations: u64,
    files: &Files,
    name: *const c_void,
    flags: u32,
) -> Outcome {
    let mut done = 0;
    while done < operations {
        // SAFETY: the caller promises; each descriptor is closed once.
        unsafe {
            let file = (files.open)(name, flags);
            if file < 0 {
                return Outcome { correct: done, failed: 1 };
            }
            if (files.close)(file) != 0 {
                return Outcome { correct: done, failed: 2 };
            }
        }
        done += 1;
    }
    Outcome { correct: done, failed: DONE }
}

/// # Safety
/// As of [`open_close`].
unsafe extern "C" fn create_delete(
    operations: u64,
    files: &Files,
    name: *const c_void,
    flags: u32,
) -> Outcome {
    let mut done = 0;
    while done < operations {
        // SAFETY: the caller promises; each descriptor is closed once.
        unsafe {
            let file = (files.open)(name, flags);
            if file < 0 {
                return Outcome { correct: done, failed: 1 };
            }
            if (files.close)(file) != 0 {
                return Outcome { correct: done, failed: 2 };
            }
            if (files.remove)(name) != 0 {
                return Outcome { correct: done, failed: 3 };
            }
        }
        done += 1;
    }
    Outcome { correct: done, failed: DONE }
}

/// # Safety
/// `processes` must be those of the system, and this process must have a single thread.
unsafe extern "C" fn fork_wait(operations: u64, processes: &Processes, status: i32) -> Outcome {
    let mut correct = 0;
    let mut done = 0;
    while done < operations {
        // SAFETY: the caller promises; each child is waited for once.
        unsafe {
            let child = (processes.fork)();
            if child == 0 {
                (processes.leave)(status);
            }
            if child < 0 {
                return Outcome { correct, failed: 1 };
            }
            let exit = (processes.wait)(child);
            if exit < 0 {
                return Outcome { correct, failed: 2 };
            }
            if exit == status {
                correct += 1;
            }
        }
        done += 1;
    }
    Outcome { correct, failed: DONE }
}
