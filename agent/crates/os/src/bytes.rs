//! Single bytes of a mapping.

use crate::mmap::Mapping;

impl Mapping {
    /// Reads one byte.
    ///
    /// # Panics
    /// If it is not inside the mapping.
    #[inline(always)]
    pub fn read(&self, at: usize) -> u8 {
        assert!(at < self.length);
        // SAFETY: inside the mapping.
        unsafe { std::ptr::read_volatile(self.start.add(at)) }
    }

    /// Writes one byte.
    ///
    /// # Panics
    /// If it is not inside the mapping.
    #[inline(always)]
    pub fn write(&mut self, at: usize, value: u8) {
        assert!(at < self.length);
        // SAFETY: inside the mapping.
        unsafe { std::ptr::write_volatile(self.start.add(at), value) }
    }

    /// Fills the mapping with copies of `code`.
    pub(crate) fn fill(&mut self, code: &[u8]) {
        for copy in 0..self.length / code.len() {
            // SAFETY: whole copies inside the mapping, which is borrowed mutably.
            unsafe {
                let to = self.start.add(copy * code.len());
                std::ptr::copy_nonoverlapping(code.as_ptr(), to, code.len());
            }
        }
    }
}
