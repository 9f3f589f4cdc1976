//! Zstandard by its reference library, whose contexts are made once and used again, as its own `zstd -b`
//! does.

#[cfg(any(target_os = "linux", windows))]
use super::job::broken;
use pentathlon_harness::measure::Failure;

/// The level that the library and its program take by default.
#[cfg(any(target_os = "linux", windows))]
const LEVEL: i32 = 3;

#[cfg(any(target_os = "linux", windows))]
pub struct Contexts {
    pack: zstd_safe::CCtx<'static>,
    restore: zstd_safe::DCtx<'static>,
}

#[cfg(any(target_os = "linux", windows))]
impl Contexts {
    pub fn new() -> Result<Self, Failure> {
        let mut pack = zstd_safe::CCtx::create();
        pack.set_parameter(zstd_safe::CParameter::CompressionLevel(LEVEL))
            .map_err(failed)?;
        let restore = zstd_safe::DCtx::create();
        Ok(Self { pack, restore })
    }

    /// Packs as one frame.
    pub fn pack(&mut self, plain: &[u8], packed: &mut Vec<u8>) -> Result<(), Failure> {
        packed.clear();
        packed.reserve(zstd_safe::compress_bound(plain.len()));
        self.pack.compress2(packed, plain).map(drop).map_err(failed)
    }

    /// Restores a frame into a buffer of exactly the size of the plain bytes.
    pub fn restore(&mut self, packed: &[u8], restored: &mut [u8]) -> Result<(), Failure> {
        match self.restore.decompress(restored, packed).map_err(failed)? {
            whole if whole == restored.len() => Ok(()),
            part => Err(broken(
                "decompression",
                format!("it ended after {part} bytes"),
            )),
        }
    }
}

#[cfg(any(target_os = "linux", windows))]
fn failed(code: usize) -> Failure {
    broken("zstd", zstd_safe::get_error_name(code))
}

#[cfg(not(any(target_os = "linux", windows)))]
pub enum Contexts {}

#[cfg(not(any(target_os = "linux", windows)))]
impl Contexts {
    pub fn new() -> Result<Self, Failure> {
        Err(Failure::Unsupported(
            "zstd is part of the agent on Linux and Windows only".into(),
        ))
    }

    pub fn pack(&mut self, _: &[u8], _: &mut Vec<u8>) -> Result<(), Failure> {
        match *self {}
    }

    pub fn restore(&mut self, _: &[u8], _: &mut [u8]) -> Result<(), Failure> {
        match *self {}
    }
}
