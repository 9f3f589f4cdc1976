//! The loops in plain Rust, for architectures without loops of their own. The compiler may use
//! vectors; `black_box` between the passes keeps it from merging them.

use super::Kernels;
use std::hint::black_box;

pub const KERNELS: Kernels = Kernels {
    name: "portable",
    read,
    write,
    copy,
};

fn read(block: &[u64], passes: u64) -> u64 {
    let mut all = 0u64;
    for _ in 0..passes {
        let pass = black_box(block).iter().fold(0, |pass, &word| pass ^ word);
        all = all.rotate_left(1) ^ pass;
    }
    all
}

fn write(block: &mut [u64], mut value: u64, passes: u64) -> u64 {
    for _ in 0..passes {
        value = value.wrapping_add(1);
        black_box(&mut *block).fill(value);
    }
    value
}

fn copy(to: &mut [u64], from: &[u64], passes: u64) {
    for _ in 0..passes {
        black_box(&mut *to).copy_from_slice(black_box(from));
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn named(name: &str) -> Result<Kernels, String> {
    Err(format!(
        "'{name}' names instructions of x86-64, and this agent is built for {}",
        std::env::consts::ARCH
    ))
}

/// Follows a chain of addresses: `steps` dependent loads from `start`; returns the address reached.
///
/// # Safety
/// From `start` on, every word reached must hold the address of a readable, aligned word.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub unsafe fn chase(start: *const u64, steps: u64) -> *const u64 {
    let mut at = start;
    for _ in 0..steps {
        // SAFETY: the caller's promise. Volatile, so that each load is done.
        at = unsafe { std::ptr::read_volatile(at) } as usize as *const u64;
    }
    at
}
