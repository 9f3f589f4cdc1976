//! File compression and decompression: deflate (RFC 1951) in the zlib format (RFC 1950) at level
//! 6, by zlib-rs.

use super::super::checksum::of_bytes;
use super::super::corpus::text::text;
use super::job::{broken, same, Job};
use crate::measure::Failure;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

pub struct Deflate {
    plain: Vec<u8>,
    packed: Vec<u8>,
}

impl Deflate {
    pub fn new(bytes: usize, seed: u64) -> Self {
        Self {
            plain: text(bytes, seed),
            packed: Vec::new(),
        }
    }
}

impl Job for Deflate {
    fn units(&self) -> f64 {
        self.plain.len() as f64
    }

    fn run(&mut self) -> Result<(), Failure> {
        deflate(&self.plain, &mut self.packed)
    }

    fn check(&mut self) -> Result<u64, Failure> {
        let mut restored = vec![0; self.plain.len()];
        inflate(&self.packed, &mut restored)?;
        same("decompression", &restored, &self.plain)?;
        Ok(of_bytes(&self.packed))
    }
}

pub struct Inflate {
    plain: Vec<u8>,
    packed: Vec<u8>,
    restored: Vec<u8>,
}

impl Inflate {
    pub fn new(bytes: usize, seed: u64) -> Result<Self, Failure> {
        let plain = text(bytes, seed);
        let mut packed = Vec::new();
        deflate(&plain, &mut packed)?;
        Ok(Self {
            restored: vec![0; plain.len()],
            plain,
            packed,
        })
    }
}

impl Job for Inflate {
    /// Uncompressed bytes: what the user gets.
    fn units(&self) -> f64 {
        self.plain.len() as f64
    }

    fn run(&mut self) -> Result<(), Failure> {
        inflate(&self.packed, &mut self.restored)
    }

    fn check(&mut self) -> Result<u64, Failure> {
        same("decompression", &self.restored, &self.plain)?;
        Ok(of_bytes(&self.restored))
    }
}

fn deflate(plain: &[u8], packed: &mut Vec<u8>) -> Result<(), Failure> {
    packed.clear();
    // Stored blocks are the worst case: five bytes for each 64 KiB, and the frame.
    packed.reserve(plain.len() + plain.len() / 1000 + 64);
    let mut stream = Compress::new(Compression::new(6), true);
    match stream.compress_vec(plain, packed, FlushCompress::Finish) {
        Ok(Status::StreamEnd) => Ok(()),
        Ok(status) => Err(broken("compression did not end", format!("{status:?}"))),
        Err(error) => Err(broken("compression", error)),
    }
}

/// Restores into a buffer of exactly the size of the plain bytes.
fn inflate(packed: &[u8], restored: &mut [u8]) -> Result<(), Failure> {
    let mut stream = Decompress::new(true);
    match stream.decompress(packed, restored, FlushDecompress::Finish) {
        Ok(Status::StreamEnd) if stream.total_out() == restored.len() as u64 => Ok(()),
        Ok(status) => Err(broken("decompression did not end", format!("{status:?}"))),
        Err(error) => Err(broken("decompression", error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_compresses_as_prose_does() {
        let mut job = Deflate::new(1 << 20, 1);
        job.run().unwrap();
        let ratio = job.packed.len() as f64 / job.plain.len() as f64;
        assert!((0.3..0.45).contains(&ratio), "{ratio}");
    }

    #[test]
    fn decompression_restores_and_the_checksums_are_those_of_the_work() {
        let mut packing = Deflate::new(100_000, 1);
        packing.run().unwrap();
        let first = packing.check().unwrap();
        packing.run().unwrap();
        assert_eq!(packing.check().unwrap(), first);
        let mut unpacking = Inflate::new(100_000, 1).unwrap();
        unpacking.run().unwrap();
        assert_eq!(unpacking.check().unwrap(), of_bytes(&packing.plain));
    }

    #[test]
    fn a_wrong_byte_is_noticed() {
        let mut job = Deflate::new(10_000, 1);
        job.run().unwrap();
        let middle = job.packed.len() / 2;
        job.packed[middle] ^= 4;
        assert!(job.check().is_err());
        let mut job = Inflate::new(10_000, 1).unwrap();
        job.run().unwrap();
        job.restored[77] ^= 1;
        assert!(matches!(job.check(), Err(Failure::Invalid(_))));
    }

    #[test]
    fn a_published_stream_is_understood() {
        // "Wikipedia" in the zlib format, from the encyclopedia's article on Adler-32.
        let packed = [
            0x78, 0x9c, 0x0b, 0xcf, 0xcc, 0xce, 0x2c, 0x48, 0x4d, 0xc9, 0x4c, 0x04, 0x00, 0x11,
            0xe6, 0x03, 0x98,
        ];
        let mut restored = [0; 9];
        inflate(&packed, &mut restored).unwrap();
        assert_eq!(&restored, b"Wikipedia");
    }
}
