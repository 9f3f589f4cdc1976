//! The single-threaded tests of the set: `cpu.compress`, `cpu.decompress`, `cpu.encrypt`,
//! `cpu.decrypt`, `cpu.image_decompress`, `cpu.audio_compress`, `cpu.audio_decompress`.

use super::audio::{CompressAudio, DecompressAudio};
use super::file::{self, Pack, Unpack};
use super::image::{DecodeImage, Format};
use super::job::{Alone, Job};
use super::parameters;
use super::secret::{Decrypt, Encrypt};
use pentathlon_harness::measure::{Context, Failure, Quantity};
use pentathlon_harness::Workload;
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameters, Semantics};
use pentathlon_protocol::Case;

/// Which codec, in which direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    Compress,
    Decompress,
    Encrypt,
    Decrypt,
    ImageDecompress,
    AudioCompress,
    AudioDecompress,
}

impl Task {
    #[cfg(test)]
    const ALL: [Self; 7] = [
        Self::Compress,
        Self::Decompress,
        Self::Encrypt,
        Self::Decrypt,
        Self::ImageDecompress,
        Self::AudioCompress,
        Self::AudioDecompress,
    ];

    /// Its name as a factor of a case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compress => "compress",
            Self::Decompress => "decompress",
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
            Self::ImageDecompress => "image_decompress",
            Self::AudioCompress => "audio_compress",
            Self::AudioDecompress => "audio_decompress",
        }
    }

    pub fn unit(self) -> &'static str {
        match self {
            Self::ImageDecompress => "MPixels/s",
            _ => "MB/s",
        }
    }

    /// The task with its input. `variant` is one of `variants`.
    pub fn job(
        self,
        parameters: &Parameters,
        variant: &str,
        seed: u64,
    ) -> Result<Box<dyn Job>, Failure> {
        let bytes = || parameters.integer("bytes") as usize;
        let frames = || (parameters.number("audio_s") * 44_100.0) as usize;
        Ok(match self {
            Self::Compress => Box::new(Pack::new(file::Format::of(variant)?, bytes(), seed)),
            Self::Decompress => Box::new(Unpack::new(file::Format::of(variant)?, bytes(), seed)?),
            Self::Encrypt | Self::Decrypt => {
                let bits = variant.parse().expect("checked against the choices");
                if self == Self::Encrypt {
                    Box::new(Encrypt::new(bytes(), bits, seed)?)
                } else {
                    Box::new(Decrypt::new(bytes(), bits, seed)?)
                }
            }
            Self::ImageDecompress => {
                let side = |name| parameters.integer(name) as usize;
                let (width, height) = (side("width"), side("height"));
                Box::new(DecodeImage::new(Format::of(variant), width, height, seed)?)
            }
            Self::AudioCompress => Box::new(CompressAudio::new(frames(), seed)?),
            Self::AudioDecompress => Box::new(DecompressAudio::new(frames(), seed)?),
        })
    }

    /// The parameter that lists variants of the task, each a case of its own.
    pub fn variants(self) -> Option<&'static str> {
        match self {
            Self::Compress | Self::Decompress => Some("file_format"),
            Self::Encrypt | Self::Decrypt => Some("key_bits"),
            Self::ImageDecompress => Some("format"),
            _ => None,
        }
    }

    fn words(self) -> (&'static str, &'static str, &'static str, &'static str) {
        match self {
            Self::Compress => (
                "cpu.compress",
                "File compression",
                "Text in the zlib format at level 6, or as Zstandard at level 3; decompression must \
                 restore it.",
                "FNV-1a of the compressed bytes",
            ),
            Self::Decompress => (
                "cpu.decompress",
                "File decompression",
                "The same backwards; MB of plain text per second.",
                "FNV-1a of the restored bytes",
            ),
            Self::Encrypt => (
                "cpu.encrypt",
                "File encryption",
                "AES-GCM of text; decryption must restore it.",
                "FNV-1a of the encrypted bytes",
            ),
            Self::Decrypt => (
                "cpu.decrypt",
                "File decryption",
                "AES-GCM backwards, its tag checked.",
                "FNV-1a of the restored bytes",
            ),
            Self::ImageDecompress => (
                "cpu.image_decompress",
                "Image decompression",
                "JPEG and PNG of one generated photograph; PNG must restore it exactly, JPEG \
                 within 30 dB.",
                "FNV-1a of the pixels",
            ),
            Self::AudioCompress => (
                "cpu.audio_compress",
                "Audio compression",
                "FLAC of generated music, 16-bit stereo at 44.1 kHz; decompression must restore \
                 every sample.",
                "FNV-1a of the compressed bytes",
            ),
            Self::AudioDecompress => (
                "cpu.audio_decompress",
                "Audio decompression",
                "FLAC backwards; MB of samples per second.",
                "FNV-1a of the samples",
            ),
        }
    }
}

/// One task as a workload.
pub struct Single(pub Task);

impl Workload for Single {
    fn describe(&self) -> catalog::Workload {
        let (id, title, summary, checksum) = self.0.words();
        catalog::Workload {
            id,
            title,
            summary,
            source: "martinovic2012 §4.1, Tab. 5 and 12 (PCMark05 CPU suite)",
            parameters: parameters::of(&[self.0]),
            factors: self.0.variants().map(factor).into_iter().collect(),
            metrics: vec![Metric::higher("rate", "Rate", self.0.unit())],
            checksum,
            semantics: Semantics::alike("one thread; no system calls but for memory"),
        }
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let parameters = context.parameters.clone();
        let variants = match self.0.variants() {
            Some(name) => parameters.texts(name),
            None => vec![""],
        };
        for variant in variants {
            let mut case = Case::new();
            if let Some(name) = self.0.variants() {
                case = case.with(name, variant);
            }
            match self.0.job(&parameters, variant, context.seed) {
                Ok(job) => {
                    let quantity = Quantity::MegaPerSecond { units: job.units() };
                    context.measure("rate", &case, quantity, &mut Alone::new(job));
                }
                Err(failure) => context.fail(Some(&case), &failure),
            }
        }
        Ok(())
    }
}

fn factor(name: &'static str) -> Factor {
    let (title, unit) = match name {
        "key_bits" => ("key", Some("bits")),
        _ => ("format", None),
    };
    Factor::new(name, title, unit, "category")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The task's job from small inputs, made through the catalog's parameters.
    fn small(task: Task, variant: &str, seed: u64) -> Box<dyn Job> {
        let declared = parameters::of(&[task]);
        let mut given = serde_json::Map::new();
        for (name, value) in [
            ("bytes", json!(20_000)),
            ("width", json!(64)),
            ("height", json!(64)),
            ("audio_s", json!(0.2)),
        ] {
            if declared.iter().any(|p| p.name == name) {
                given.insert(name.into(), value);
            }
        }
        let parameters = Parameters::resolve(&declared, &given).unwrap();
        task.job(&parameters, variant, seed).unwrap()
    }

    #[test]
    fn every_task_runs_through_its_parameters_and_its_checksum_is_its_inputs() {
        for task in Task::ALL {
            let variants = match task.variants() {
                Some("key_bits") => vec!["128", "256"],
                Some("file_format") if cfg!(any(target_os = "linux", windows)) => {
                    file::Format::NAMES.to_vec()
                }
                Some("file_format") => vec!["zlib"],
                Some(_) => Format::NAMES.to_vec(),
                None => vec![""],
            };
            for variant in variants {
                let sum = |seed| {
                    let mut job = small(task, variant, seed);
                    job.run().unwrap();
                    job.check().unwrap()
                };
                assert_eq!(sum(1), sum(1), "{task:?}");
                assert_ne!(sum(1), sum(2), "{task:?}");
            }
        }
    }
}
