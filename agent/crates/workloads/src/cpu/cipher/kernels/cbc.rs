//! AES with cipher block chaining by AWS-LC.

use super::Refused;
use aws_lc_sys as lc;

const BLOCK: usize = 16;

/// A key of 128 or 256 bits, expanded for both directions.
pub struct Cbc {
    encrypt: lc::AES_KEY,
    decrypt: lc::AES_KEY,
}

impl Cbc {
    /// # Errors
    /// A key that has neither 16 nor 32 bytes.
    pub fn new(key: &[u8]) -> Result<Self, Refused> {
        if !matches!(key.len(), 16 | 32) {
            return Err(Refused("an AES key has 16 or 32 bytes here"));
        }
        let bits = 8 * key.len() as u32;
        // SAFETY: whole numbers, for which all zeros is a value; the calls fill them.
        let mut made: Self = unsafe { std::mem::zeroed() };
        // SAFETY: the key is read for as many bits as it has.
        let one = unsafe { lc::AES_set_encrypt_key(key.as_ptr(), bits, &mut made.encrypt) };
        // SAFETY: as above.
        let two = unsafe { lc::AES_set_decrypt_key(key.as_ptr(), bits, &mut made.decrypt) };
        if one == 0 && two == 0 {
            return Ok(made);
        }
        Err(Refused("no key"))
    }

    /// Encrypts whole blocks in place.
    ///
    /// # Errors
    /// A length that is not one of whole blocks.
    pub fn encrypt(&self, vector: &[u8; BLOCK], data: &mut [u8]) -> Result<(), Refused> {
        Self::go(&self.encrypt, vector, data, 1)
    }

    /// Decrypts whole blocks in place.
    ///
    /// # Errors
    /// A length that is not one of whole blocks.
    pub fn decrypt(&self, vector: &[u8; BLOCK], data: &mut [u8]) -> Result<(), Refused> {
        Self::go(&self.decrypt, vector, data, 0)
    }

    fn go(
        key: &lc::AES_KEY,
        vector: &[u8; BLOCK],
        data: &mut [u8],
        direction: i32,
    ) -> Result<(), Refused> {
        if !data.len().is_multiple_of(BLOCK) {
            return Err(Refused("these are not whole blocks"));
        }
        let mut vector = *vector;
        let at = data.as_mut_ptr();
        // SAFETY: a key for the direction; the data are read and written in place, which the
        // function allows, for their length; the vector has the length of a block.
        unsafe { lc::AES_cbc_encrypt(at, at, data.len(), key, vector.as_mut_ptr(), direction) };
        Ok(())
    }
}
