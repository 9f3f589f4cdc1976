//! Audio compression and decompression: FLAC (RFC 9639), compressed by `flacenc`, decompressed by
//! Symphonia. FLAC is lossless, so decompression proves compression to the last bit.

use super::super::checksum::{of_bytes, of_words};
use super::super::corpus::music::{music, CHANNELS, RATE};
use super::job::{broken, Job};
use flacenc::component::BitRepr;
use flacenc::error::{Verified, Verify};
use pentathlon_harness::measure::Failure;
use std::io::Cursor;
use symphonia_bundle_flac::{FlacDecoder, FlacReader};
use symphonia_core::codecs::audio::{AudioDecoder, AudioDecoderOptions};
use symphonia_core::codecs::CodecParameters;
use symphonia_core::formats::{FormatOptions, FormatReader};
use symphonia_core::io::{MediaSourceStream, MediaSourceStreamOptions};

pub struct CompressAudio {
    config: Verified<flacenc::config::Encoder>,
    /// As the encoder takes them.
    samples: Vec<i32>,
    packed: Vec<u8>,
}

impl CompressAudio {
    pub fn new(frames: usize, seed: u64) -> Result<Self, Failure> {
        let config = flacenc::config::Encoder::default()
            .into_verified()
            .map_err(|(_, error)| broken("the FLAC encoder's settings", error))?;
        // Whole blocks: the encoder counts a shorter last one as the stream's smallest, which the
        // format forbids and the decoder refuses.
        let frames = frames.next_multiple_of(config.block_size);
        Ok(Self {
            config,
            samples: music(frames, seed).into_iter().map(i32::from).collect(),
            packed: Vec::new(),
        })
    }
}

impl Job for CompressAudio {
    fn units(&self) -> f64 {
        (2 * self.samples.len()) as f64
    }

    fn run(&mut self) -> Result<(), Failure> {
        let rate = RATE as usize;
        let source = flacenc::source::MemSource::from_samples(&self.samples, CHANNELS, 16, rate);
        let size = self.config.block_size;
        let stream = flacenc::encode_with_fixed_block_size(&self.config, source, size)
            .map_err(|error| broken("FLAC compression", format!("{error:?}")))?;
        let mut sink = flacenc::bitsink::ByteSink::new();
        stream
            .write(&mut sink)
            .map_err(|error| broken("FLAC compression", format!("{error:?}")))?;
        self.packed = sink.into_inner();
        Ok(())
    }

    fn check(&mut self) -> Result<u64, Failure> {
        let mut restored = Vec::with_capacity(self.samples.len());
        decode(&self.packed, &mut restored)?;
        same(&restored, &self.samples)?;
        Ok(of_bytes(&self.packed))
    }
}

pub struct DecompressAudio {
    samples: Vec<i32>,
    packed: Vec<u8>,
    restored: Vec<i32>,
}

impl DecompressAudio {
    pub fn new(frames: usize, seed: u64) -> Result<Self, Failure> {
        let mut compress = CompressAudio::new(frames, seed)?;
        compress.run()?;
        Ok(Self {
            restored: Vec::with_capacity(compress.samples.len()),
            samples: compress.samples,
            packed: compress.packed,
        })
    }
}

impl Job for DecompressAudio {
    /// Uncompressed bytes: what is heard.
    fn units(&self) -> f64 {
        (2 * self.samples.len()) as f64
    }

    fn run(&mut self) -> Result<(), Failure> {
        decode(&self.packed, &mut self.restored)
    }

    fn check(&mut self) -> Result<u64, Failure> {
        same(&self.restored, &self.samples)?;
        Ok(of_words(self.restored.iter().map(|&sample| sample as u64)))
    }
}

fn decode(packed: &[u8], samples: &mut Vec<i32>) -> Result<(), Failure> {
    let failed = |error| broken("FLAC decompression", error);
    samples.clear();
    // The stream owns its source.
    let source = Box::new(Cursor::new(packed.to_vec()));
    let stream = MediaSourceStream::new(source, MediaSourceStreamOptions::default());
    let mut reader = FlacReader::try_new(stream, FormatOptions::default()).map_err(failed)?;
    let parameters = match reader
        .tracks()
        .first()
        .and_then(|t| t.codec_params.as_ref())
    {
        Some(CodecParameters::Audio(parameters)) => parameters.clone(),
        _ => return Err(broken("FLAC decompression", "the stream has no audio")),
    };
    let options = AudioDecoderOptions::default();
    let mut decoder = FlacDecoder::try_new(&parameters, &options).map_err(failed)?;
    let mut block: Vec<i16> = Vec::new();
    while let Some(packet) = reader.next_packet().map_err(failed)? {
        let audio = decoder.decode(&packet).map_err(failed)?;
        audio.copy_to_vec_interleaved(&mut block);
        samples.extend(block.iter().map(|&sample| i32::from(sample)));
    }
    Ok(())
}

fn same(restored: &[i32], original: &[i32]) -> Result<(), Failure> {
    if restored == original {
        return Ok(());
    }
    Err(Failure::Invalid(format!(
        "FLAC decompression gave {} samples that are not the {} samples that went in",
        restored.len(),
        original.len()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn music_compresses_as_music_does_and_comes_back_exactly() {
        let mut compress = CompressAudio::new(100_000, 1).unwrap();
        compress.run().unwrap();
        let first = compress.check().unwrap();
        let share = compress.packed.len() as f64 / compress.units();
        assert!((0.3..0.8).contains(&share), "{share}");
        compress.run().unwrap();
        assert_eq!(compress.check().unwrap(), first);
        let mut decompress = DecompressAudio::new(100_000, 1).unwrap();
        decompress.run().unwrap();
        decompress.check().unwrap();
        assert_eq!(decompress.restored, compress.samples);
    }

    #[test]
    fn a_wrong_sample_is_noticed() {
        let mut job = DecompressAudio::new(20_000, 1).unwrap();
        assert!(job.check().is_err(), "nothing was decompressed yet");
        job.run().unwrap();
        job.restored[1234] ^= 1;
        assert!(matches!(job.check(), Err(Failure::Invalid(_))));
    }
}
