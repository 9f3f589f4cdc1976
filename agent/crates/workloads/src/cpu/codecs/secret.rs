//! File encryption and decryption: AES (FIPS 197) in Galois/counter mode (NIST SP 800-38D); with the
//! processor's AES instructions where it has them.

use super::super::checksum::of_bytes;
use super::super::corpus::text::text;
use super::job::{broken, same, Job};
use crate::cpu::cipher::kernels::Gcm;
use pentathlon_harness::measure::Failure;
use pentathlon_harness::Random;

/// A key of 128 or 256 bits.
fn key(bits: u64, seed: u64) -> Result<Gcm, Failure> {
    let mut random = Random::new(seed ^ 0x6b65_7900);
    let bytes: Vec<u8> = (0..bits / 64)
        .flat_map(|_| random.next().to_le_bytes())
        .collect();
    Gcm::new(&bytes).map_err(|error| broken("the key", error))
}

/// The file's only message; a nonce must not come twice with one key for another message.
const NONCE: [u8; 12] = *b"pentathlon 1";

pub struct Encrypt {
    key: Gcm,
    plain: Vec<u8>,
    secret: Vec<u8>,
    restored: Vec<u8>,
    tag: [u8; 16],
}

impl Encrypt {
    pub fn new(bytes: usize, bits: u64, seed: u64) -> Result<Self, Failure> {
        Ok(Self {
            key: key(bits, seed)?,
            plain: text(bytes, seed),
            secret: vec![0; bytes],
            restored: vec![0; bytes],
            tag: [0; 16],
        })
    }
}

impl Job for Encrypt {
    fn units(&self) -> f64 {
        self.plain.len() as f64
    }

    fn run(&mut self) -> Result<(), Failure> {
        self.tag = self
            .key
            .seal(&NONCE, &self.plain, &mut self.secret)
            .map_err(|error| broken("encryption", error))?;
        Ok(())
    }

    fn check(&mut self) -> Result<u64, Failure> {
        self.key
            .open(&NONCE, &self.secret, &mut self.restored, &self.tag)
            .map_err(|error| broken("decryption", error))?;
        same("decryption", &self.restored, &self.plain)?;
        Ok(of_bytes(&self.secret))
    }
}

pub struct Decrypt {
    key: Gcm,
    plain: Vec<u8>,
    secret: Vec<u8>,
    tag: [u8; 16],
    restored: Vec<u8>,
}

impl Decrypt {
    pub fn new(bytes: usize, bits: u64, seed: u64) -> Result<Self, Failure> {
        let key = key(bits, seed)?;
        let plain = text(bytes, seed);
        let mut secret = vec![0; plain.len()];
        let tag = key
            .seal(&NONCE, &plain, &mut secret)
            .map_err(|error| broken("encryption", error))?;
        Ok(Self {
            key,
            restored: vec![0; bytes],
            plain,
            secret,
            tag,
        })
    }
}

impl Job for Decrypt {
    fn units(&self) -> f64 {
        self.plain.len() as f64
    }

    fn run(&mut self) -> Result<(), Failure> {
        self.key
            .open(&NONCE, &self.secret, &mut self.restored, &self.tag)
            .map_err(|error| broken("decryption", error))
    }

    fn check(&mut self) -> Result<u64, Failure> {
        same("decryption", &self.restored, &self.plain)?;
        Ok(of_bytes(&self.restored))
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
    fn the_published_test_cases_come_out() {
        // D. McGrew and J. Viega, The Galois/Counter Mode of Operation, test cases 3 and 15.
        let plain = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                     1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255";
        let nonce: [u8; 12] = bytes("cafebabefacedbaddecaf888")
            .try_into()
            .expect("12 bytes");
        for (key, secret, tag) in [
            (
                "feffe9928665731c6d6a8f9467308308",
                "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e\
                 21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985",
                "4d5c2af327cd64a62cf35abd2ba6fab4",
            ),
            (
                "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
                "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa\
                 8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad",
                "b094dac5d93471bdec1a502270e3cc6c",
            ),
        ] {
            let key = Gcm::new(&bytes(key)).unwrap();
            let plain = bytes(plain);
            let mut data = vec![0; plain.len()];
            let made = key.seal(&nonce, &plain, &mut data).unwrap();
            assert_eq!(data, bytes(secret));
            assert_eq!(made.to_vec(), bytes(tag));
            let mut restored = vec![0; plain.len()];
            key.open(&nonce, &data, &mut restored, &made).unwrap();
            assert_eq!(restored, plain);
        }
    }

    #[test]
    fn every_job_proves_its_work_and_a_changed_byte_is_noticed() {
        for bits in [128, 256] {
            let mut encrypt = Encrypt::new(5_000, bits, 1).unwrap();
            encrypt.run().unwrap();
            encrypt.secret[100] ^= 1;
            assert!(encrypt.check().is_err());
            assert_ne!(
                encrypt.plain, encrypt.secret,
                "what is encrypted stays as it is"
            );
            encrypt.run().unwrap();
            let first = encrypt.check().unwrap();
            encrypt.run().unwrap();
            assert_eq!(encrypt.check().unwrap(), first);
            let mut decrypt = Decrypt::new(5_000, bits, 1).unwrap();
            decrypt.run().unwrap();
            assert_eq!(decrypt.check().unwrap(), of_bytes(&encrypt.plain));
            decrypt.secret[9] ^= 1;
            assert!(decrypt.run().is_err());
        }
    }
}
