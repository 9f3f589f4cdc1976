//! AES in Galois/counter mode by AWS-LC.

use super::Refused;
use aws_lc_sys as lc;
use std::ptr::{null, NonNull};

const TAG: usize = 16;

/// A key of 128 or 256 bits.
pub struct Gcm(NonNull<lc::EVP_AEAD_CTX>);

// SAFETY: the context is not changed after it was made, and belongs to no thread.
unsafe impl Send for Gcm {}

impl Gcm {
    /// # Errors
    /// A key that has neither 16 nor 32 bytes.
    pub fn new(key: &[u8]) -> Result<Self, Refused> {
        let algorithm = match key.len() {
            // SAFETY: both return the address of a constant.
            16 => unsafe { lc::EVP_aead_aes_128_gcm() },
            // SAFETY: as above.
            32 => unsafe { lc::EVP_aead_aes_256_gcm() },
            _ => return Err(Refused("an AES key has 16 or 32 bytes here")),
        };
        // SAFETY: an algorithm that exists; the key is read for its length, which is right for it.
        let made = unsafe { lc::EVP_AEAD_CTX_new(algorithm, key.as_ptr(), key.len(), TAG) };
        NonNull::new(made).map(Self).ok_or(Refused("no key"))
    }

    /// Encrypts `from` to `to`; returns the tag.
    ///
    /// # Errors
    /// Buffers of different lengths.
    pub fn seal(&self, nonce: &[u8; 12], from: &[u8], to: &mut [u8]) -> Result<[u8; TAG], Refused> {
        if from.len() != to.len() {
            return Err(Refused("the buffers are not of one length"));
        }
        let (mut tag, mut tag_bytes) = ([0; TAG], 0);
        // SAFETY: a context that was made; both buffers have the length given, and are different
        // ones by their types; the tag's has the room given; nothing more is added.
        let done = unsafe {
            lc::EVP_AEAD_CTX_seal_scatter(
                self.0.as_ptr(),
                to.as_mut_ptr(),
                tag.as_mut_ptr(),
                &mut tag_bytes,
                TAG,
                nonce.as_ptr(),
                nonce.len(),
                from.as_ptr(),
                from.len(),
                null(),
                0,
                null(),
                0,
            )
        };
        if done == 1 && tag_bytes == TAG {
            return Ok(tag);
        }
        Err(Refused("the message cannot be encrypted"))
    }

    /// Decrypts `from` to `to`, if the tag is right.
    ///
    /// # Errors
    /// Buffers of different lengths; a message or a tag that was changed.
    pub fn open(
        &self,
        nonce: &[u8; 12],
        from: &[u8],
        to: &mut [u8],
        tag: &[u8; TAG],
    ) -> Result<(), Refused> {
        if from.len() != to.len() {
            return Err(Refused("the buffers are not of one length"));
        }
        // SAFETY: as for `seal`; the tag is read for its length.
        let done = unsafe {
            lc::EVP_AEAD_CTX_open_gather(
                self.0.as_ptr(),
                to.as_mut_ptr(),
                nonce.as_ptr(),
                nonce.len(),
                from.as_ptr(),
                from.len(),
                tag.as_ptr(),
                tag.len(),
                null(),
                0,
            )
        };
        if done == 1 {
            return Ok(());
        }
        Err(Refused("the tag is not that of the message"))
    }
}

impl Drop for Gcm {
    fn drop(&mut self) {
        // SAFETY: made by EVP_AEAD_CTX_new, and not used any more.
        unsafe { lc::EVP_AEAD_CTX_free(self.0.as_ptr()) };
    }
}
