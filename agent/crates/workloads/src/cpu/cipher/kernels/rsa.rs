//! The bare RSA primitives by AWS-LC, without padding and without blinding: a message always gives the
//! same number, by the same work, and no random numbers are needed.

use super::{Refused, RsaNumbers};
use aws_lc_sys as lc;
use std::ptr::{null_mut, NonNull};

/// A key pair.
pub struct RsaKey {
    key: NonNull<lc::RSA>,
    bytes: usize,
}

// SAFETY: the key belongs to no thread; it is used by one at a time, for it is not `Sync`.
unsafe impl Send for RsaKey {}

impl RsaKey {
    /// # Errors
    /// Numbers that do not belong together.
    pub fn new(numbers: &RsaNumbers) -> Result<Self, Refused> {
        let [n, e, d] = [&numbers.n, &numbers.e, &numbers.d].map(|bytes| Number::new(bytes));
        let [p, q] = [&numbers.p, &numbers.q].map(|bytes| Number::new(bytes));
        let [d_p, d_q, inverse] =
            [&numbers.d_p, &numbers.d_q, &numbers.q_inverse].map(|bytes| Number::new(bytes));
        // SAFETY: numbers that were made (none is refused by the call), which it copies.
        let made =
            unsafe { lc::RSA_new_private_key(n.0, e.0, d.0, p.0, q.0, d_p.0, d_q.0, inverse.0) };
        let Some(key) = NonNull::new(made) else {
            return Err(Refused("the key's numbers do not belong together"));
        };
        // SAFETY: a key that was made.
        unsafe { lc::RSA_set_flags(key.as_ptr(), lc::RSA_FLAG_NO_BLINDING) };
        // SAFETY: as above.
        let bytes = unsafe { lc::RSA_size(key.as_ptr()) } as usize;
        Ok(Self { key, bytes })
    }

    /// Bytes of the modulus, and of every message.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// message^e mod n.
    ///
    /// # Errors
    /// A message that is not below the modulus, or not of its length.
    pub fn public(&self, from: &[u8], to: &mut [u8]) -> Result<(), Refused> {
        self.go(lc::RSA_encrypt, from, to)
    }

    /// message^d mod n, by the Chinese remainder theorem, and a check of the result.
    ///
    /// # Errors
    /// As for `public`.
    pub fn private(&self, from: &[u8], to: &mut [u8]) -> Result<(), Refused> {
        self.go(lc::RSA_decrypt, from, to)
    }

    fn go(&self, primitive: Primitive, from: &[u8], to: &mut [u8]) -> Result<(), Refused> {
        let mut written = 0;
        // SAFETY: a key that was made; both buffers are given with their lengths.
        let done = unsafe {
            primitive(
                self.key.as_ptr(),
                &mut written,
                to.as_mut_ptr(),
                to.len(),
                from.as_ptr(),
                from.len(),
                lc::RSA_NO_PADDING,
            )
        };
        if done == 1 && written == to.len() {
            return Ok(());
        }
        Err(Refused(
            "the message is not below the modulus, or not of its length",
        ))
    }
}

impl Drop for RsaKey {
    fn drop(&mut self) {
        // SAFETY: made by RSA_new_private_key, and not used any more.
        unsafe { lc::RSA_free(self.key.as_ptr()) };
    }
}

type Primitive =
    unsafe extern "C" fn(*mut lc::RSA, *mut usize, *mut u8, usize, *const u8, usize, i32) -> i32;

/// A big number; none (null) without memory.
struct Number(*mut lc::BIGNUM);

impl Number {
    fn new(bytes: &[u8]) -> Self {
        // SAFETY: the bytes are read for their length; without a number to fill, one is made.
        Self(unsafe { lc::BN_bin2bn(bytes.as_ptr(), bytes.len(), null_mut()) })
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        // SAFETY: made by BN_bin2bn, or null, which is allowed.
        unsafe { lc::BN_free(self.0) };
    }
}
