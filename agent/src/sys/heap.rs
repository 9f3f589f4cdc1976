//! The C library's heap: `malloc(3)` and `free(3)`.

use std::hint::black_box;
use std::ptr::NonNull;

/// A block from `malloc`, given back by `free` when dropped. The compiler is kept from knowing
/// the pointer, so it can neither drop the pair of calls nor move the block to the stack.
pub struct Block {
    start: NonNull<u8>,
    bytes: usize,
}

impl Block {
    /// None if the C library has no memory to give. `bytes` must not be 0.
    #[inline(always)]
    pub fn new(bytes: usize) -> Option<Self> {
        // SAFETY: any size may be asked for.
        let start = black_box(unsafe { libc::malloc(bytes) });
        NonNull::new(start.cast()).map(|start| Self { start, bytes })
    }

    /// Writes the first and the last byte of the block and reads them back.
    #[inline(always)]
    pub fn holds(&mut self, first: u8, last: u8) -> bool {
        // SAFETY: both places lie in the block, and each is written before it is read.
        unsafe {
            let (front, back) = (
                self.start.as_ptr(),
                self.start.as_ptr().add(self.bytes.max(1) - 1),
            );
            front.write_volatile(first);
            back.write_volatile(last);
            back.read_volatile() == last && (front == back || front.read_volatile() == first)
        }
    }
}

impl Drop for Block {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the block came from malloc and is freed once.
        unsafe { libc::free(black_box(self.start.as_ptr()).cast()) }
    }
}

/// An array of 32-bit integers from `malloc`.
pub struct Integers {
    block: Block,
    length: usize,
}

impl Integers {
    #[inline(always)]
    pub fn new(length: usize) -> Option<Self> {
        let block = Block::new(length * std::mem::size_of::<u32>())?;
        Some(Self { block, length })
    }

    /// Fills the array so that each element holds its index (modulo 2^32).
    #[inline(always)]
    pub fn indices(&mut self) -> &mut [u32] {
        let start = self.block.start.as_ptr().cast::<u32>();
        // SAFETY: malloc aligns for every basic type and the block has room for `length` integers;
        // each is written before the slice makes it readable.
        unsafe {
            for index in 0..self.length {
                start.add(index).write(index as u32);
            }
            std::slice::from_raw_parts_mut(black_box(start), self.length)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_keeps_its_ends_apart() {
        for bytes in [1, 2, 4, 4096, 1 << 20] {
            let mut block = Block::new(bytes).unwrap();
            assert!(block.holds(7, 9), "{bytes}");
        }
    }

    #[test]
    fn an_impossible_block_is_refused() {
        assert!(Block::new(isize::MAX as usize).is_none());
    }

    #[test]
    fn indices_are_in_order() {
        let mut array = Integers::new(1000).unwrap();
        assert!(array
            .indices()
            .iter()
            .enumerate()
            .all(|(index, &value)| value as usize == index));
    }
}
