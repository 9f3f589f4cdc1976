//! File compression and decompression in one of two formats: deflate (RFC 1951) in the zlib format
//! (RFC 1950) at level 6, by zlib-rs; Zstandard (RFC 8878) at level 3, by its reference library.

use super::super::checksum::of_bytes;
use super::super::corpus::text::text;
use super::job::{broken, same, Job};
use super::zstandard;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use pentathlon_harness::measure::Failure;

/// What packs and restores.
pub enum Format {
    Zlib,
    Zstandard(zstandard::Contexts),
}

impl Format {
    pub const NAMES: [&'static str; 2] = ["zlib", "zstd"];

    /// # Errors
    /// Zstandard where its library is not part of the agent.
    pub fn of(name: &str) -> Result<Self, Failure> {
        match name {
            "zstd" => zstandard::Contexts::new().map(Self::Zstandard),
            _ => Ok(Self::Zlib),
        }
    }

    fn pack(&mut self, plain: &[u8], packed: &mut Vec<u8>) -> Result<(), Failure> {
        match self {
            Self::Zlib => deflate(plain, packed),
            Self::Zstandard(contexts) => contexts.pack(plain, packed),
        }
    }

    /// Restores into a buffer of exactly the size of the plain bytes.
    fn restore(&mut self, packed: &[u8], restored: &mut [u8]) -> Result<(), Failure> {
        match self {
            Self::Zlib => inflate(packed, restored),
            Self::Zstandard(contexts) => contexts.restore(packed, restored),
        }
    }
}

pub struct Pack {
    format: Format,
    plain: Vec<u8>,
    packed: Vec<u8>,
}

impl Pack {
    pub fn new(format: Format, bytes: usize, seed: u64) -> Self {
        Self {
            format,
            plain: text(bytes, seed),
            packed: Vec::new(),
        }
    }
}

impl Job for Pack {
    fn units(&self) -> f64 {
        self.plain.len() as f64
    }

    fn run(&mut self) -> Result<(), Failure> {
        self.format.pack(&self.plain, &mut self.packed)
    }

    fn check(&mut self) -> Result<u64, Failure> {
        let mut restored = vec![0; self.plain.len()];
        self.format.restore(&self.packed, &mut restored)?;
        same("decompression", &restored, &self.plain)?;
        Ok(of_bytes(&self.packed))
    }
}

pub struct Unpack {
    format: Format,
    plain: Vec<u8>,
    packed: Vec<u8>,
    restored: Vec<u8>,
}

impl Unpack {
    pub fn new(mut format: Format, bytes: usize, seed: u64) -> Result<Self, Failure> {
        let plain = text(bytes, seed);
        let mut packed = Vec::new();
        format.pack(&plain, &mut packed)?;
        Ok(Self {
            format,
            restored: vec![0; plain.len()],
            plain,
            packed,
        })
    }
}

impl Job for Unpack {
    /// Uncompressed bytes: what the user gets.
    fn units(&self) -> f64 {
        self.plain.len() as f64
    }

    fn run(&mut self) -> Result<(), Failure> {
        self.format.restore(&self.packed, &mut self.restored)
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

    fn both(test: impl Fn(fn() -> Format)) {
        test(|| Format::of("zlib").unwrap());
        if cfg!(any(target_os = "linux", windows)) {
            test(|| Format::of("zstd").unwrap());
        }
    }

    #[test]
    fn text_compresses_as_prose_does() {
        both(|format| {
            let mut job = Pack::new(format(), 1 << 20, 1);
            job.run().unwrap();
            let ratio = job.packed.len() as f64 / job.plain.len() as f64;
            assert!((0.3..0.45).contains(&ratio), "{ratio}");
        });
    }

    #[test]
    fn decompression_restores_and_the_checksums_are_those_of_the_work() {
        both(|format| {
            let mut packing = Pack::new(format(), 100_000, 1);
            packing.run().unwrap();
            let first = packing.check().unwrap();
            packing.run().unwrap();
            assert_eq!(packing.check().unwrap(), first);
            let mut unpacking = Unpack::new(format(), 100_000, 1).unwrap();
            unpacking.run().unwrap();
            assert_eq!(unpacking.check().unwrap(), of_bytes(&packing.plain));
        });
    }

    #[test]
    fn a_wrong_byte_is_noticed() {
        both(|format| {
            let mut job = Pack::new(format(), 10_000, 1);
            job.run().unwrap();
            let middle = job.packed.len() / 2;
            job.packed[middle] ^= 4;
            assert!(job.check().is_err());
            let mut job = Unpack::new(format(), 10_000, 1).unwrap();
            job.run().unwrap();
            job.restored[77] ^= 1;
            assert!(matches!(job.check(), Err(Failure::Invalid(_))));
        });
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
