//! AES (FIPS 197) with cipher block chaining (NIST SP 800-38A): each block waits for the one before it
//! when encrypting, and not when decrypting.

use super::kernels::Cbc;
use pentathlon_harness::measure::Failure;
use pentathlon_harness::Random;

const VECTOR: [u8; 16] = *b"initial vector 0";

/// A key of 128 or 256 bits and a buffer that is encrypted and decrypted in place.
pub struct Aes {
    key: Cbc,
    plain: Vec<u8>,
    buffer: Vec<u8>,
}

impl Aes {
    /// `bytes` is rounded down to whole blocks.
    pub fn new(bits: u64, bytes: usize, seed: u64) -> Result<Self, Failure> {
        let mut random = Random::new(seed);
        let mut octets = |count: usize| -> Vec<u8> {
            (0..count / 8)
                .flat_map(|_| random.next().to_le_bytes())
                .collect()
        };
        let key = Cbc::new(&octets(bits as usize / 8))
            .map_err(|error| Failure::Failed(format!("AES: {error}")))?;
        let mut plain = octets(bytes);
        plain.truncate(bytes / 16 * 16);
        Ok(Self {
            key,
            buffer: plain.clone(),
            plain,
        })
    }

    pub fn bytes(&self) -> usize {
        self.plain.len()
    }

    /// Puts the plain text into the buffer.
    pub fn reset(&mut self) {
        self.buffer.copy_from_slice(&self.plain);
    }

    pub fn encrypt(&mut self) -> Result<(), Failure> {
        let done = self.key.encrypt(&VECTOR, &mut self.buffer);
        done.map_err(|error| Failure::Failed(format!("AES: {error}")))
    }

    pub fn decrypt(&mut self) -> Result<(), Failure> {
        let done = self.key.decrypt(&VECTOR, &mut self.buffer);
        done.map_err(|error| Failure::Failed(format!("AES: {error}")))
    }

    pub fn checksum(&self) -> u64 {
        super::super::checksum::of_bytes(&self.buffer)
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
            let key = Cbc::new(&bytes(key)).unwrap();
            let mut data = plain.clone();
            key.encrypt(&vector, &mut data).unwrap();
            assert_eq!(data, bytes(expected));
            key.decrypt(&vector, &mut data).unwrap();
            assert_eq!(data, plain);
        }
    }

    #[test]
    fn decryption_restores_and_a_wrong_byte_is_noticed() {
        for bits in [128, 256] {
            let mut aes = Aes::new(bits, 4096, 1).unwrap();
            let plain = aes.checksum();
            aes.encrypt().unwrap();
            assert_ne!(aes.checksum(), plain);
            assert!(aes.restored().is_err());
            aes.decrypt().unwrap();
            aes.restored().unwrap();
            aes.encrypt().unwrap();
            aes.buffer[9 * 16 + 3] ^= 1;
            aes.decrypt().unwrap();
            assert!(aes.restored().is_err());
        }
    }
}
