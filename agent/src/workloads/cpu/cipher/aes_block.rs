//! AES (FIPS 197) with cipher block chaining (NIST SP 800-38A), by RustCrypto's `aes` and `cbc`:
//! each block waits for the one before it when encrypting, and not when decrypting.

use super::super::random::Random;
use crate::measure::Failure;
use aes::cipher::{Block, BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};
use aes::{Aes128, Aes256};

const VECTOR: [u8; 16] = *b"initial vector 0";

/// A key of 128 or 256 bits and a buffer that is encrypted and decrypted in place.
pub struct Aes {
    key: Vec<u8>,
    plain: Vec<Block<Aes128>>,
    buffer: Vec<Block<Aes128>>,
}

impl Aes {
    /// `bytes` is rounded down to whole blocks.
    pub fn new(bits: u64, bytes: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut octets = |count: usize| -> Vec<u8> {
            (0..count / 8)
                .flat_map(|_| random.next().to_le_bytes())
                .collect()
        };
        let key = octets(bits as usize / 8);
        let plain: Vec<_> = octets(bytes)
            .chunks_exact(16)
            .map(|block| <[u8; 16]>::try_from(block).expect("16 bytes").into())
            .collect();
        Self {
            key,
            buffer: plain.clone(),
            plain,
        }
    }

    pub fn bytes(&self) -> usize {
        16 * self.plain.len()
    }

    /// Puts the plain text into the buffer.
    pub fn reset(&mut self) {
        self.buffer.copy_from_slice(&self.plain);
    }

    pub fn encrypt(&mut self) {
        encrypt(&self.key, &VECTOR, &mut self.buffer);
    }

    pub fn decrypt(&mut self) {
        decrypt(&self.key, &VECTOR, &mut self.buffer);
    }

    pub fn checksum(&self) -> u64 {
        super::super::checksum::of_bytes(self.buffer.as_flattened_bytes().as_slice())
    }

    /// That the buffer holds the plain text.
    pub fn restored(&self) -> Result<(), Failure> {
        if self.buffer == self.plain {
            return Ok(());
        }
        Err(Failure::Invalid(
            "AES decryption did not restore what was encrypted".into(),
        ))
    }
}

/// The bytes of blocks.
trait Flat {
    fn as_flattened_bytes(&self) -> Vec<u8>;
}

impl Flat for Vec<Block<Aes128>> {
    fn as_flattened_bytes(&self) -> Vec<u8> {
        self.iter()
            .flat_map(|block| block.iter().copied())
            .collect()
    }
}

fn encrypt(key: &[u8], vector: &[u8; 16], blocks: &mut [Block<Aes128>]) {
    let failed = "keys are made with the right length";
    if key.len() == 16 {
        let mut mode = cbc::Encryptor::<Aes128>::new_from_slices(key, vector).expect(failed);
        mode.encrypt_blocks(blocks);
    } else {
        let mut mode = cbc::Encryptor::<Aes256>::new_from_slices(key, vector).expect(failed);
        mode.encrypt_blocks(blocks);
    }
}

fn decrypt(key: &[u8], vector: &[u8; 16], blocks: &mut [Block<Aes128>]) {
    let failed = "keys are made with the right length";
    if key.len() == 16 {
        let mut mode = cbc::Decryptor::<Aes128>::new_from_slices(key, vector).expect(failed);
        mode.decrypt_blocks(blocks);
    } else {
        let mut mode = cbc::Decryptor::<Aes256>::new_from_slices(key, vector).expect(failed);
        mode.decrypt_blocks(blocks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len() / 2)
            .map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hex"))
            .collect()
    }

    #[test]
    fn the_published_vectors_come_out() {
        // NIST SP 800-38A, F.2.1 and F.2.5: the first two blocks.
        let plain = bytes("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51");
        let vector: [u8; 16] = std::array::from_fn(|i| i as u8);
        for (key, expected) in [
            (
                "2b7e151628aed2a6abf7158809cf4f3c",
                "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2",
            ),
            (
                "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
                "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d",
            ),
        ] {
            let mut blocks: Vec<Block<Aes128>> = plain
                .chunks_exact(16)
                .map(|b| <[u8; 16]>::try_from(b).unwrap().into())
                .collect();
            encrypt(&bytes(key), &vector, &mut blocks);
            assert_eq!(blocks.as_flattened_bytes(), bytes(expected));
            decrypt(&bytes(key), &vector, &mut blocks);
            assert_eq!(blocks.as_flattened_bytes(), plain);
        }
    }

    #[test]
    fn decryption_restores_and_a_wrong_byte_is_noticed() {
        for bits in [128, 256] {
            let mut aes = Aes::new(bits, 4096, 1);
            let plain = aes.checksum();
            aes.encrypt();
            assert_ne!(aes.checksum(), plain);
            assert!(aes.restored().is_err());
            aes.decrypt();
            aes.restored().unwrap();
            aes.encrypt();
            aes.buffer[9][3] ^= 1;
            aes.decrypt();
            assert!(aes.restored().is_err());
        }
    }
}
