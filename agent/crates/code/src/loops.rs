// The loops of venkata2003, figure 1, over 32-bit integers: compiled once per level, in a file
// without a name of its own.

/// Stores `pass + index` in every element.
///
/// # Safety
/// `data` must point to `count` integers that nobody else uses.
unsafe extern "C" fn write(data: *mut u32, count: usize, pass: u32) {
    let mut index = 0;
    while index < count {
        // SAFETY: below `count`, which the caller promises.
        unsafe { *data.add(index) = pass + index as u32 };
        index += 1;
    }
}

/// The sum of all elements.
///
/// # Safety
/// `data` must point to `count` integers that nobody writes to.
unsafe extern "C" fn read(data: *const u32, count: usize) -> u32 {
    let mut sum = 0;
    let mut index = 0;
    while index < count {
        // SAFETY: below `count`, which the caller promises.
        sum += unsafe { *data.add(index) };
        index += 1;
    }
    sum
}
