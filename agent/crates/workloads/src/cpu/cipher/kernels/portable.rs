//! The same ciphers by RustCrypto: for systems on which AWS-LC was not tried, and beside it in tests.

use super::{Refused, RsaNumbers};
use aes::cipher::{Block, BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};
use aes::{Aes128, Aes256};
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::aead::{AeadInOut, Nonce, Tag};
use aes_gcm::{Aes128Gcm, Aes256Gcm, KeyInit};
use rsa::hazmat::{rsa_decrypt, rsa_encrypt};
use rsa::traits::PublicKeyParts;
use rsa::{BigUint, RsaPrivateKey};

const KEY: Refused = Refused("an AES key has 16 or 32 bytes here");

/// A key of 128 or 256 bits.
pub enum Gcm {
    Bits128(Box<Aes128Gcm>),
    Bits256(Box<Aes256Gcm>),
}

impl Gcm {
    /// # Errors
    /// A key that has neither 16 nor 32 bytes.
    pub fn new(key: &[u8]) -> Result<Self, Refused> {
        match key.len() {
            16 => Aes128Gcm::new_from_slice(key).map(|key| Self::Bits128(Box::new(key))),
            _ => Aes256Gcm::new_from_slice(key).map(|key| Self::Bits256(Box::new(key))),
        }
        .map_err(|_| KEY)
    }

    /// Encrypts `from` to `to`; returns the tag.
    ///
    /// # Errors
    /// Buffers of different lengths.
    pub fn seal(&self, nonce: &[u8; 12], from: &[u8], to: &mut [u8]) -> Result<[u8; 16], Refused> {
        let nonce = Nonce::<Aes128Gcm>::from(*nonce);
        let data = pair(from, to)?;
        match self {
            Self::Bits128(key) => key.encrypt_inout_detached(&nonce, b"", data),
            Self::Bits256(key) => key.encrypt_inout_detached(&nonce, b"", data),
        }
        .map(Into::into)
        .map_err(|_| Refused("the message cannot be encrypted"))
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
        tag: &[u8; 16],
    ) -> Result<(), Refused> {
        let nonce = Nonce::<Aes128Gcm>::from(*nonce);
        let data = pair(from, to)?;
        let tag = Tag::<Aes128Gcm>::from(*tag);
        match self {
            Self::Bits128(key) => key.decrypt_inout_detached(&nonce, b"", data, &tag),
            Self::Bits256(key) => key.decrypt_inout_detached(&nonce, b"", data, &tag),
        }
        .map_err(|_| Refused("the tag is not that of the message"))
    }
}

fn pair<'a, 'b>(from: &'a [u8], to: &'b mut [u8]) -> Result<InOutBuf<'a, 'b, u8>, Refused> {
    InOutBuf::new(from, to).map_err(|_| Refused("the buffers are not of one length"))
}

/// A key of 128 or 256 bits.
pub struct Cbc(Vec<u8>);

impl Cbc {
    /// # Errors
    /// A key that has neither 16 nor 32 bytes.
    pub fn new(key: &[u8]) -> Result<Self, Refused> {
        match key.len() {
            16 | 32 => Ok(Self(key.to_vec())),
            _ => Err(KEY),
        }
    }

    /// Encrypts whole blocks in place.
    ///
    /// # Errors
    /// A length that is not one of whole blocks.
    pub fn encrypt(&self, vector: &[u8; 16], data: &mut [u8]) -> Result<(), Refused> {
        let blocks = whole(data)?;
        match self.0.len() {
            16 => cbc::Encryptor::<Aes128>::new_from_slices(&self.0, vector)
                .map(|mut mode| mode.encrypt_blocks(blocks)),
            _ => cbc::Encryptor::<Aes256>::new_from_slices(&self.0, vector)
                .map(|mut mode| mode.encrypt_blocks(blocks)),
        }
        .map_err(|_| KEY)
    }

    /// Decrypts whole blocks in place.
    ///
    /// # Errors
    /// A length that is not one of whole blocks.
    pub fn decrypt(&self, vector: &[u8; 16], data: &mut [u8]) -> Result<(), Refused> {
        let blocks = whole(data)?;
        match self.0.len() {
            16 => cbc::Decryptor::<Aes128>::new_from_slices(&self.0, vector)
                .map(|mut mode| mode.decrypt_blocks(blocks)),
            _ => cbc::Decryptor::<Aes256>::new_from_slices(&self.0, vector)
                .map(|mut mode| mode.decrypt_blocks(blocks)),
        }
        .map_err(|_| KEY)
    }
}

fn whole(data: &mut [u8]) -> Result<&mut [Block<Aes128>], Refused> {
    let (blocks, rest) = Block::<Aes128>::slice_as_chunks_mut(data);
    match rest.len() {
        0 => Ok(blocks),
        _ => Err(Refused("these are not whole blocks")),
    }
}

/// A key pair.
pub struct RsaKey(RsaPrivateKey);

impl RsaKey {
    /// # Errors
    /// Numbers that do not belong together.
    pub fn new(numbers: &RsaNumbers) -> Result<Self, Refused> {
        let [n, e, d] = [&numbers.n, &numbers.e, &numbers.d].map(|b| BigUint::from_bytes_be(b));
        let primes = [&numbers.p, &numbers.q].map(|bytes| BigUint::from_bytes_be(bytes));
        RsaPrivateKey::from_components(n, e, d, primes.into())
            .and_then(|key| key.validate().map(|()| Self(key)))
            .map_err(|_| Refused("the key's numbers do not belong together"))
    }

    /// Bytes of the modulus, and of every message.
    pub fn bytes(&self) -> usize {
        self.0.size()
    }

    /// message^e mod n.
    ///
    /// # Errors
    /// A message that is not below the modulus, or not of its length.
    pub fn public(&self, from: &[u8], to: &mut [u8]) -> Result<(), Refused> {
        let number = rsa_encrypt(&self.0, &self.number(from)?);
        put(&number.map_err(|_| OUTSIDE)?, to)
    }

    /// message^d mod n, by the Chinese remainder theorem.
    ///
    /// # Errors
    /// As for `public`.
    pub fn private(&self, from: &[u8], to: &mut [u8]) -> Result<(), Refused> {
        let nobody: Option<&mut Nobody> = None;
        let number = rsa_decrypt(nobody, &self.0, &self.number(from)?);
        put(&number.map_err(|_| OUTSIDE)?, to)
    }

    fn number(&self, from: &[u8]) -> Result<BigUint, Refused> {
        let number = BigUint::from_bytes_be(from);
        match from.len() == self.bytes() && number < *self.0.n() {
            true => Ok(number),
            false => Err(OUTSIDE),
        }
    }
}

const OUTSIDE: Refused = Refused("the message is not below the modulus, or not of its length");

fn put(number: &BigUint, to: &mut [u8]) -> Result<(), Refused> {
    let bytes = number.to_bytes_be();
    let zeros = to.len().checked_sub(bytes.len()).ok_or(OUTSIDE)?;
    to[..zeros].fill(0);
    to[zeros..].copy_from_slice(&bytes);
    Ok(())
}

/// The random numbers of a blinding that is not done.
enum Nobody {}

impl rsa::rand_core::CryptoRng for Nobody {}

impl rsa::rand_core::RngCore for Nobody {
    fn next_u32(&mut self) -> u32 {
        match *self {}
    }
    fn next_u64(&mut self) -> u64 {
        match *self {}
    }
    fn fill_bytes(&mut self, _: &mut [u8]) {
        match *self {}
    }
    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), rsa::rand_core::Error> {
        match *self {}
    }
}
