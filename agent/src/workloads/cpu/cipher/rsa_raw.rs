//! RSA (R. Rivest, A. Shamir, L. Adleman, Communications of the ACM 21, 1978) by RustCrypto's
//! `rsa`: the bare primitives RSAEP and RSADP of RFC 8017 without padding, so that the same
//! message always gives the same number.

use super::super::random::Random;
use crate::measure::Failure;
use rsa::hazmat::{rsa_decrypt, rsa_encrypt};
use rsa::rand_core::{impls, CryptoRng, Error, RngCore};
use rsa::traits::PublicKeyParts;
use rsa::{BigUint, RsaPrivateKey};

/// A key pair and a message.
pub struct Rsa {
    key: RsaPrivateKey,
    message: BigUint,
    encrypted: BigUint,
    decrypted: BigUint,
}

impl Rsa {
    /// A seeded key of 512 or 1024 bits; exponent 65537.
    pub fn new(bits: u64, seed: u64) -> Result<Self, Failure> {
        let mut seeded = Seeded(Random::new(seed ^ bits));
        let key = RsaPrivateKey::new(&mut seeded, bits as usize).map_err(broken)?;
        let mut message = vec![0; bits as usize / 8];
        seeded.fill_bytes(&mut message);
        // Below the modulus, whose highest bit is set.
        message[0] &= 0x7f;
        Self::of(key, BigUint::from_bytes_be(&message))
    }

    fn of(key: RsaPrivateKey, message: BigUint) -> Result<Self, Failure> {
        let encrypted = rsa_encrypt(&key, &message).map_err(broken)?;
        Ok(Self {
            decrypted: BigUint::default(),
            key,
            message,
            encrypted,
        })
    }

    /// message^e mod n.
    pub fn encrypt(&mut self) -> Result<(), Failure> {
        self.encrypted = rsa_encrypt(&self.key, &self.message).map_err(broken)?;
        Ok(())
    }

    /// encrypted^d mod n, by the Chinese remainder theorem and without blinding.
    pub fn decrypt(&mut self) -> Result<(), Failure> {
        let nobody: Option<&mut Seeded> = None;
        self.decrypted = rsa_decrypt(nobody, &self.key, &self.encrypted).map_err(broken)?;
        Ok(())
    }

    pub fn checksum(&self) -> u64 {
        super::super::checksum::of_bytes(&self.encrypted.to_bytes_be())
    }

    /// That decryption gave the message, and that the key is what it claims.
    pub fn restored(&self) -> Result<(), Failure> {
        if self.decrypted == self.message && self.encrypted < *self.key.n() {
            return Ok(());
        }
        Err(Failure::Invalid(
            "RSA decryption did not restore what was encrypted".into(),
        ))
    }
}

fn broken(error: rsa::Error) -> Failure {
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

    fn number(decimal: &str) -> BigUint {
        decimal.parse().expect("digits")
    }

    #[test]
    fn the_magic_words_come_out() {
        // RSA-129: M. Gardner, Scientific American 237 (2), 1977; D. Atkins et al., 1994.
        let key = RsaPrivateKey::from_p_q(
            number("3490529510847650949147849619903898133417764638493387843990820577"),
            number("32769132993266709549961988190834461413177642967992942539798288533"),
            BigUint::from(9007u32),
        )
        .expect("a key");
        let message = number(
            "200805001301070903002315180419000118050019172105011309190800151919090618010705",
        );
        let mut rsa = Rsa::of(key, message).unwrap();
        assert_eq!(
            rsa.encrypted,
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
        rsa.encrypted += 1u32;
        rsa.decrypt().unwrap();
        assert!(rsa.restored().is_err());
    }
}
