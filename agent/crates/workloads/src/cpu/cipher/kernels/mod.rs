//! The ciphers of the processor's workloads: AES-GCM (NIST SP 800-38D), AES with cipher block
//! chaining (SP 800-38A) and the bare RSA primitives (RFC 8017, section 5.1).
//!
//! On Linux and Windows by AWS-LC, whose loops in assembly are those of OpenSSL and newer ones; it is
//! C, so every call is `unsafe`. Elsewhere by RustCrypto, which the tests compare it with.

#[cfg(any(target_os = "linux", windows))]
mod cbc;
#[cfg(any(target_os = "linux", windows))]
mod gcm;
#[cfg(any(test, not(any(target_os = "linux", windows))))]
mod portable;
#[cfg(any(target_os = "linux", windows))]
mod rsa;

#[cfg(any(target_os = "linux", windows))]
pub use self::{cbc::Cbc, gcm::Gcm, rsa::RsaKey};
#[cfg(not(any(target_os = "linux", windows)))]
pub use portable::{Cbc, Gcm, RsaKey};

use ::rsa::traits::{PrivateKeyParts, PublicKeyParts};
use ::rsa::RsaPrivateKey;

/// What a cipher refuses: in words, without the library's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused(pub &'static str);

impl std::fmt::Display for Refused {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(self.0)
    }
}

/// The numbers of an RSA key pair, big-endian: modulus, exponents, and what the Chinese remainder
/// theorem takes (primes, d mod p − 1, d mod q − 1, the inverse of q mod p).
#[derive(Debug, Clone)]
// Elsewhere the library computes what belongs to the primes.
#[cfg_attr(not(any(target_os = "linux", windows)), allow(dead_code))]
pub struct RsaNumbers {
    pub n: Vec<u8>,
    pub e: Vec<u8>,
    pub d: Vec<u8>,
    pub p: Vec<u8>,
    pub q: Vec<u8>,
    pub d_p: Vec<u8>,
    pub d_q: Vec<u8>,
    pub q_inverse: Vec<u8>,
}

impl RsaNumbers {
    /// Those of a key; none if it has more than two primes or was not precomputed.
    pub fn of(key: &RsaPrivateKey) -> Option<Self> {
        let [p, q] = key.primes() else {
            return None;
        };
        Some(Self {
            n: key.n().to_bytes_be(),
            e: key.e().to_bytes_be(),
            d: key.d().to_bytes_be(),
            p: p.to_bytes_be(),
            q: q.to_bytes_be(),
            d_p: key.dp()?.to_bytes_be(),
            d_q: key.dq()?.to_bytes_be(),
            q_inverse: key.crt_coefficient()?.to_bytes_be(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes without a pattern that a cipher could hide a mistake in.
    fn noise(count: usize, mut state: u64) -> Vec<u8> {
        (0..count)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 56) as u8
            })
            .collect()
    }

    #[test]
    fn galois_counter_mode_is_that_of_another_library() {
        for key in [noise(16, 1), noise(32, 2)] {
            // Around the lengths at which a wider loop takes over.
            for length in [0, 1, 16, 95, 96, 255, 768, 4096, 100_003] {
                let plain = noise(length, 3);
                let (one, two) = (Gcm::new(&key).unwrap(), portable::Gcm::new(&key).unwrap());
                let (mut here, mut there) = (vec![0; length], vec![0; length]);
                let tag = one.seal(b"twelve bytes", &plain, &mut here).unwrap();
                assert_eq!(two.seal(b"twelve bytes", &plain, &mut there), Ok(tag));
                assert_eq!(here, there, "{length} bytes");
                let mut back = vec![0; length];
                assert_eq!(one.open(b"twelve bytes", &there, &mut back, &tag), Ok(()));
                assert_eq!(back, plain);
                back.fill(0);
                assert_eq!(two.open(b"twelve bytes", &here, &mut back, &tag), Ok(()));
                assert_eq!(back, plain);
            }
        }
    }

    #[test]
    fn a_changed_message_or_tag_is_refused() {
        let key = Gcm::new(&[7; 16]).unwrap();
        let (plain, mut secret, mut back) = (noise(1000, 4), vec![0; 1000], vec![0; 1000]);
        let mut tag = key.seal(b"twelve bytes", &plain, &mut secret).unwrap();
        secret[999] ^= 1;
        assert!(key.open(b"twelve bytes", &secret, &mut back, &tag).is_err());
        secret[999] ^= 1;
        tag[0] ^= 1;
        assert!(key.open(b"twelve bytes", &secret, &mut back, &tag).is_err());
    }

    #[test]
    fn wrong_lengths_are_refused() {
        assert!(Gcm::new(&[0; 15]).is_err());
        assert!(Cbc::new(&[0; 17]).is_err());
        let key = Gcm::new(&[0; 16]).unwrap();
        assert!(key.seal(&[0; 12], &[0; 3], &mut [0; 2]).is_err());
        assert!(key.open(&[0; 12], &[0; 2], &mut [0; 3], &[0; 16]).is_err());
        assert!(Cbc::new(&[0; 16])
            .unwrap()
            .encrypt(&[0; 16], &mut [0; 17])
            .is_err());
    }

    #[test]
    fn cipher_block_chaining_is_that_of_another_library() {
        for key in [noise(16, 5), noise(32, 6)] {
            for blocks in [0, 1, 7, 8, 9, 1000] {
                let plain = noise(16 * blocks, 7);
                let (one, two) = (Cbc::new(&key).unwrap(), portable::Cbc::new(&key).unwrap());
                let (mut here, mut there) = (plain.clone(), plain.clone());
                one.encrypt(b"initial vector 0", &mut here).unwrap();
                two.encrypt(b"initial vector 0", &mut there).unwrap();
                assert_eq!(here, there, "{blocks} blocks");
                one.decrypt(b"initial vector 0", &mut here).unwrap();
                two.decrypt(b"initial vector 0", &mut there).unwrap();
                assert_eq!((here, there), (plain.clone(), plain));
            }
        }
    }

    #[test]
    fn rsa_is_that_of_another_library() {
        // The primes of RSA-129 (D. Atkins et al., 1994).
        let prime = |digits: &str| digits.parse::<::rsa::BigUint>().expect("digits");
        let mut key = RsaPrivateKey::from_p_q(
            prime("3490529510847650949147849619903898133417764638493387843990820577"),
            prime("32769132993266709549961988190834461413177642967992942539798288533"),
            9007u32.into(),
        )
        .unwrap();
        key.precompute().unwrap();
        let numbers = RsaNumbers::of(&key).unwrap();
        let one = RsaKey::new(&numbers).unwrap();
        let two = portable::RsaKey::new(&numbers).unwrap();
        assert_eq!((one.bytes(), two.bytes()), (key.size(), key.size()));
        let mut message = noise(key.size(), 8);
        // The smallest numbers, which begin with zeros, and one below the modulus.
        for first in [0, 1] {
            message[0] = first;
            let (mut here, mut there) = (message.clone(), message.clone());
            one.public(&message, &mut here).unwrap();
            two.public(&message, &mut there).unwrap();
            assert_eq!(here, there);
            let (mut back, mut again) = (message.clone(), message.clone());
            one.private(&here, &mut back).unwrap();
            two.private(&here, &mut again).unwrap();
            assert_eq!((&back, &again), (&message, &message));
        }
        let large = vec![0xff; key.size()];
        assert!(one.public(&large, &mut message).is_err());
        assert!(two.public(&large, &mut message).is_err());
    }

    #[test]
    fn a_key_whose_numbers_do_not_belong_together_is_refused() {
        // 3233 = 61 × 53, the textbook's key, with a wrong prime.
        let numbers = RsaNumbers {
            n: vec![0x0c, 0xa1],
            e: vec![17],
            d: vec![0x0a, 0xc1],
            p: vec![59],
            q: vec![53],
            d_p: vec![53],
            d_q: vec![49],
            q_inverse: vec![38],
        };
        assert!(RsaKey::new(&numbers).is_err());
        assert!(portable::RsaKey::new(&numbers).is_err());
    }
}
