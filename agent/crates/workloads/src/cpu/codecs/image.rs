//! Image decompression: JPEG (ISO/IEC 10918-1, baseline, quality 85, colour at half resolution) by
//! `zune-jpeg`, and PNG (ISO/IEC 15948) by image-rs's `png`.

use super::super::checksum::of_bytes;
use super::super::corpus::photo::{photo, Photo};
use super::job::{broken, same, Job};
use pentathlon_harness::measure::Failure;
use std::io::Cursor;

/// A decoded JPEG of this quality is nearer to the original than this (peak signal to noise).
const LEAST_DECIBELS: f64 = 30.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Jpeg,
    Png,
}

impl Format {
    pub const NAMES: [&'static str; 2] = ["jpeg", "png"];

    pub fn of(name: &str) -> Self {
        if name == "png" {
            Self::Png
        } else {
            Self::Jpeg
        }
    }
}

pub struct DecodeImage {
    format: Format,
    original: Photo,
    packed: Vec<u8>,
    pixels: Vec<u8>,
    near: Option<u64>,
}

impl DecodeImage {
    pub fn new(format: Format, width: usize, height: usize, seed: u64) -> Result<Self, Failure> {
        let original = photo(width, height, seed);
        let packed = match format {
            Format::Jpeg => to_jpeg(&original)?,
            Format::Png => to_png(&original)?,
        };
        Ok(Self {
            format,
            pixels: vec![0; original.rgb.len()],
            original,
            packed,
            near: None,
        })
    }
}

impl Job for DecodeImage {
    fn units(&self) -> f64 {
        (self.original.width * self.original.height) as f64
    }

    fn run(&mut self) -> Result<(), Failure> {
        match self.format {
            Format::Jpeg => zune_jpeg::JpegDecoder::new(Cursor::new(&self.packed))
                .decode_into(&mut self.pixels)
                .map_err(|error| broken("JPEG decompression", format!("{error:?}"))),
            Format::Png => png::Decoder::new(Cursor::new(&self.packed))
                .read_info()
                .and_then(|mut reader| reader.next_frame(&mut self.pixels))
                .map(drop)
                .map_err(|error| broken("PNG decompression", error)),
        }
    }

    fn check(&mut self) -> Result<u64, Failure> {
        let sum = of_bytes(&self.pixels);
        match self.format {
            Format::Png => same("PNG decompression", &self.pixels, &self.original.rgb)?,
            // The same pixels as before are as near as before.
            Format::Jpeg if self.near == Some(sum) => {}
            Format::Jpeg => {
                let decibels = decibels(&self.pixels, &self.original.rgb);
                if decibels < LEAST_DECIBELS {
                    return Err(Failure::Invalid(format!(
                        "the JPEG came out {decibels:.1} dB near the original, and must come \
                         within {LEAST_DECIBELS} dB"
                    )));
                }
                self.near = Some(sum);
            }
        }
        Ok(sum)
    }
}

fn to_jpeg(image: &Photo) -> Result<Vec<u8>, Failure> {
    let mut packed = Vec::new();
    let mut encoder = jpeg_encoder::Encoder::new(&mut packed, 85);
    encoder.set_sampling_factor(jpeg_encoder::SamplingFactor::R_4_2_0);
    let size = |pixels: usize| u16::try_from(pixels).map_err(|error| broken("the image", error));
    let (width, height) = (size(image.width)?, size(image.height)?);
    encoder
        .encode(&image.rgb, width, height, jpeg_encoder::ColorType::Rgb)
        .map_err(|error| broken("JPEG compression", error))?;
    Ok(packed)
}

fn to_png(image: &Photo) -> Result<Vec<u8>, Failure> {
    let mut packed = Vec::new();
    let size = |pixels: usize| u32::try_from(pixels).map_err(|error| broken("the image", error));
    let mut encoder = png::Encoder::new(&mut packed, size(image.width)?, size(image.height)?);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(&image.rgb));
    written.map_err(|error| broken("PNG compression", error))?;
    Ok(packed)
}

/// Peak signal to noise ratio of two images of one size.
fn decibels(a: &[u8], b: &[u8]) -> f64 {
    let squares: u64 = a
        .iter()
        .zip(b)
        .map(|(&a, &b)| u64::from(a.abs_diff(b)).pow(2))
        .sum();
    10.0 * (255.0 * 255.0 * a.len() as f64 / squares.max(1) as f64).log10()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_photograph_compresses_as_photographs_do() {
        let jpeg = DecodeImage::new(Format::Jpeg, 640, 480, 1).unwrap();
        let bits = 8.0 * jpeg.packed.len() as f64 / jpeg.units();
        assert!((1.0..2.5).contains(&bits), "{bits} bits a pixel");
        let png = DecodeImage::new(Format::Png, 640, 480, 1).unwrap();
        let share = png.packed.len() as f64 / png.original.rgb.len() as f64;
        assert!((0.3..0.8).contains(&share), "{share}");
    }

    #[test]
    fn both_formats_decode_to_the_original_and_prove_it() {
        for format in [Format::Jpeg, Format::Png] {
            let mut job = DecodeImage::new(format, 200, 120, 2).unwrap();
            job.run().unwrap();
            let sum = job.check().unwrap();
            job.pixels.fill(0);
            assert!(
                job.check().is_err(),
                "{format:?}: black is not the photograph"
            );
            job.run().unwrap();
            assert_eq!(job.check().unwrap(), sum);
        }
    }

    #[test]
    fn decibels_are_those_of_the_definition() {
        // Every value off by one: 20·log10(255).
        assert!((decibels(&[10; 300], &[11; 300]) - 48.130_803).abs() < 1e-5);
    }
}
