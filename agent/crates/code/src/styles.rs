// The loops of venkata2003, figure 27, in four styles: compiled once per level. For each i of
// `repetitions`, an array of `size` integers is allocated, filled with 0, 1, 2, ..., i + j is added
// to each element j, the elements are summed, and the array is freed. Sums are 64 bits wide, where
// the paper's overflow.
//
// All four hold the same loops, with the same barriers in the same places; they differ only in how a
// repetition is reached.

/// Keeps the compiler from knowing a number, which stays in its register.
macro_rules! unknown {
    ($number:ident) => {
        // SAFETY: no instruction.
        unsafe {
            asm!("/* {0} */", inout(reg) $number, options(nomem, nostack, preserves_flags))
        };
    };
}

/// One repetition: the loops themselves. Without memory it is 0, which no caller takes for a sum.
///
/// # Safety
/// `heap` must be a heap.
#[inline(always)]
unsafe fn repetition(heap: &Heap, i: u64, size: usize) -> u64 {
    // SAFETY: the array has room for `size` integers and is freed once.
    unsafe {
        let data = (heap.allocate)(size * 4) as *mut u32;
        if data as usize == 0 {
            return 0;
        }
        let mut j = 0;
        while j < size {
            *data.add(j) = j as u32;
            j += 1;
        }
        // The array could have been changed meanwhile, so that it must have been filled.
        asm!("", options(nostack, preserves_flags));
        let mut sum = 0;
        j = 0;
        while j < size {
            let element = *data.add(j) + (i as u32 + j as u32);
            *data.add(j) = element;
            sum += element as u64;
            j += 1;
        }
        (heap.free)(data as *mut c_void);
        sum
    }
}

/// The loops stand where they are used.
///
/// # Safety
/// `heap` must be a heap.
unsafe extern "C" fn inline(heap: &Heap, repetitions: u64, size: usize) -> u64 {
    let mut total = 0;
    let mut i = 0;
    while i < repetitions {
        let mut own = i;
        unknown!(own);
        // SAFETY: the caller promises.
        let mut sum = unsafe { repetition(heap, own, size) };
        unknown!(sum);
        total += sum;
        i += 1;
    }
    total
}

/// One call for each repetition.
///
/// # Safety
/// `heap` must be a heap.
unsafe extern "C" fn function(heap: &Heap, repetitions: u64, size: usize) -> u64 {
    let mut total = 0;
    let mut i = 0;
    while i < repetitions {
        let mut own = i;
        unknown!(own);
        // SAFETY: the caller promises.
        let mut sum = unsafe { called(heap, own, size) };
        unknown!(sum);
        total += sum;
        i += 1;
    }
    total
}

/// # Safety
/// `heap` must be a heap.
#[inline(never)]
unsafe fn called(heap: &Heap, i: u64, size: usize) -> u64 {
    // SAFETY: the caller promises.
    unsafe { repetition(heap, i, size) }
}

/// `repetitions` calls deep; the loops run on the way back. Tells the bytes of stack that the calls
/// took, which proves that they were made.
///
/// # Safety
/// `heap` must be a heap, `repetitions` not 0.
unsafe extern "C" fn recursion(
    heap: &Heap,
    repetitions: u64,
    size: usize,
    stack: &mut usize,
) -> u64 {
    let mut deepest = 0;
    // SAFETY: the caller promises.
    let total = unsafe { descend(heap, repetitions - 1, size, &mut deepest) };
    let here = stack_pointer();
    *stack = if here > deepest { here - deepest } else { 0 };
    total
}

/// # Safety
/// `heap` must be a heap.
#[inline(never)]
unsafe fn descend(heap: &Heap, i: u64, size: usize, deepest: &mut usize) -> u64 {
    let mut before = 0;
    if i > 0 {
        // SAFETY: the caller promises.
        before = unsafe { descend(heap, i - 1, size, deepest) };
    } else {
        *deepest = stack_pointer();
    }
    unknown!(before);
    let mut own = i;
    unknown!(own);
    // SAFETY: the caller promises.
    before + unsafe { repetition(heap, own, size) }
}

/// About where the stack of the caller ends.
#[inline(never)]
fn stack_pointer() -> usize {
    let here = 0u8;
    let mut address = &raw const here as usize;
    unknown!(address);
    address
}

/// A process for each repetition. It sends its sum over a pipe and ends; the parent first waits for
/// it, then reads.
///
/// # Safety
/// All must be those of the system, and this process must have a single thread.
unsafe extern "C" fn forked(
    heap: &Heap,
    processes: &Processes,
    pipe: &Pipe,
    repetitions: u64,
    size: usize,
) -> Outcome {
    let mut total = 0;
    let mut i = 0;
    while i < repetitions {
        // SAFETY: the caller promises; each child is waited for once.
        unsafe {
            let child = (processes.fork)();
            if child == 0 {
                let mut own = i;
                unknown!(own);
                let mut sum = repetition(heap, own, size);
                unknown!(sum);
                (processes.leave)((pipe.send)(pipe.to, sum));
            }
            if child < 0 {
                return Outcome { correct: total, failed: 1 };
            }
            // Without its sum in the pipe, reading would wait for ever.
            if (processes.wait)(child) != 0 {
                return Outcome { correct: total, failed: 2 };
            }
            let mut sum = 0;
            if (pipe.receive)(pipe.from, &mut sum) != 0 {
                return Outcome { correct: total, failed: 3 };
            }
            total += sum;
        }
        i += 1;
    }
    Outcome { correct: total, failed: DONE }
}
