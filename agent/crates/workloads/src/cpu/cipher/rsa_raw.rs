//! RSA (R. Rivest, A. Shamir, L. Adleman, Communications of the ACM 21, 1978): the bare primitives RSAEP
//! and RSADP of RFC 8017 without padding, so that the same message always gives the same number. The
//! keys are made by RustCrypto's `rsa`.

use super::kernels::{Refused, RsaKey, RsaNumbers};
use pentathlon_harness::measure::Failure;
use pentathlon_harness::Random;
use rsa::rand_core::{impls, CryptoRng, Error, RngCore};
use rsa::RsaPrivateKey;

/// A key pair and a message; all numbers big-endian, as long as the modulus.
pub struct Rsa {
    key: RsaKey,
    message: Vec<u8>,
    encrypted: Vec<u8>,
    decrypted: Vec<u8>,
}

impl Rsa {
    /// A seeded key of 512 or 1024 bits; exponent 65537.
    pub fn new(bits: u64, seed: u64) -> Result<Self, Failure> {
        let mut seeded = Seeded(Random::new(seed ^ bits));
        let key = RsaPrivateKey::new(&mut seeded, bits as usize).map_err(refused)?;
        let mut message = vec![0; bits as usize / 8];
        seeded.fill_bytes(&mut message);
        // Below the modulus, whose highest bit is set.
        message[0] &= 0x7f;
        Self::of(&key, message)
    }

    fn of(key: &RsaPrivateKey, message: Vec<u8>) -> Result<Self, Failure> {
        let numbers = RsaNumbers::of(key).ok_or(Refused("the key lacks a number"));
        let key = numbers
            .and_then(|numbers| RsaKey::new(&numbers))
            .map_err(refused)?;
        let room = vec![0; key.bytes()];
        let mut rsa = Self {
            key,
            message,
            encrypted: room.clone(),
            decrypted: room,
        };
        rsa.encrypt()?;
        Ok(rsa)
    }

    /// message^e mod n.
    pub fn encrypt(&mut self) -> Result<(), Failure> {
        let done = self.key.public(&self.message, &mut self.encrypted);
        done.map_err(refused)
    }

    /// encrypted^d mod n, by the Chinese remainder theorem and without blinding.
    pub fn decrypt(&mut self) -> Result<(), Failure> {
        let done = self.key.private(&self.encrypted, &mut self.decrypted);
        done.map_err(refused)
    }

    pub fn checksum(&self) -> u64 {
        super::super::checksum::of_bytes(&self.encrypted)
    }

    /// That decryption gave the message.
    pub fn restored(&self) -> Result<(), Failure> {
        if self.decrypted == self.message {
            return Ok(());
        }
        Err(Failure::Invalid(
            "RSA decryption did not restore what was encrypted".into(),
        ))
    }
}

fn refused(error: impl std::fmt::Display) -> Failure {
    Failure::Failed(format!("RSA: {error}"))
}

/// A seeded generator for keys that are the same on every system and protect nothing.
struct Seeded(Random);

impl CryptoRng for Seeded {}

impl RngCore for Seeded {
    fn next_u32(&mut self) -> u32 {
        self.0.next() as u32
    }
    fn next_u64(&mut self) -> u64 {
        self.0.next()
    }
    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        impls::fill_bytes_via_next(self, bytes);
    }
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.fill_bytes(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsa::traits::PublicKeyParts;
    use rsa::BigUint;

    fn number(decimal: &str) -> BigUint {
        decimal.parse().expect("digits")
    }

    #[test]
    fn the_magic_words_come_out() {
        // RSA-129: M. Gardner, Scientific American 237 (2), 1977; D. Atkins et al., 1994.
        let mut key = RsaPrivateKey::from_p_q(
            number("3490529510847650949147849619903898133417764638493387843990820577"),
            number("32769132993266709549961988190834461413177642967992942539798288533"),
            BigUint::from(9007u32),
        )
        .expect("a key");
        key.precompute().unwrap();
        let message = number(
            "200805001301070903002315180419000118050019172105011309190800151919090618010705",
        );
        let mut padded = vec![0; key.size() - message.to_bytes_be().len()];
        padded.extend(message.to_bytes_be());
        let mut rsa = Rsa::of(&key, padded).unwrap();
        assert_eq!(
            BigUint::from_bytes_be(&rsa.encrypted),
            number(
                "9686961375462206147714092225435588290575999112457431987469512093081629822514\
                 5708356931476622883989628013391990551829945157815154"
            )
        );
        rsa.decrypt().unwrap();
        rsa.restored().unwrap();
    }

    #[test]
    fn a_seeded_key_is_the_same_again_and_a_wrong_number_is_noticed() {
        let mut rsa = Rsa::new(512, 7).unwrap();
        assert_eq!(rsa.checksum(), Rsa::new(512, 7).unwrap().checksum());
        assert_ne!(rsa.checksum(), Rsa::new(512, 8).unwrap().checksum());
        assert!(rsa.restored().is_err(), "nothing was decrypted yet");
        rsa.decrypt().unwrap();
        rsa.restored().unwrap();
        rsa.encrypted[0] ^= 1;
        rsa.decrypt().unwrap();
        assert!(rsa.restored().is_err());
    }
}
