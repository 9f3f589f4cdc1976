//! The clip: moving hills, a ball and grain, coded once before anything is timed.

use crate::shape::Random;
use openh264::encoder::{Encoder, EncoderConfig, RateControlMode};
use openh264::formats::YUVBuffer;
use openh264::OpenH264API;
use pentathlon_harness::measure::Failure;

pub const WIDTH: usize = 1280;
pub const HEIGHT: usize = 720;
const FRAMES: usize = 24;
const RATE: f32 = 24.0;

pub struct Clip {
    /// The coded frames, in order; the first can be decoded alone.
    pub packets: Vec<Vec<u8>>,
}

impl Clip {
    /// # Errors
    /// The encoder refuses, or leaves frames out.
    pub fn make(seed: u64) -> Result<Self, Failure> {
        let failed = |error| Failure::Failed(format!("the clip cannot be coded: {error}"));
        let config = EncoderConfig::new()
            .max_frame_rate(openh264::encoder::FrameRate::from_hz(RATE))
            .rate_control_mode(RateControlMode::Off)
            .skip_frames(false);
        let mut encoder =
            Encoder::with_api_config(OpenH264API::from_source(), config).map_err(failed)?;
        let mut packets = Vec::new();
        for number in 0..FRAMES {
            let frame = YUVBuffer::from_vec(picture(number, seed), WIDTH, HEIGHT);
            let coded = encoder.encode(&frame).map_err(failed)?.to_vec();
            if coded.is_empty() {
                return Err(Failure::Failed(
                    "the encoder left a frame of the clip out".into(),
                ));
            }
            packets.push(coded);
        }
        Ok(Self { packets })
    }
}

/// One frame as planes of luma, blue and red (4:2:0, limited range), in whole numbers only.
fn picture(number: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed ^ number as u64);
    let mut data = Vec::with_capacity(WIDTH * HEIGHT * 3 / 2);
    let (ball_x, ball_y) = (160 + number * 40, 300 + (number * 37) % 160);
    let inside =
        |x: usize, y: usize| x.abs_diff(ball_x).pow(2) + y.abs_diff(ball_y).pow(2) < 90 * 90;
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            let hills =
                420 + triangle(x + number * 6, 512) / 3 + triangle(x * 3 + number * 9, 300) / 6;
            let light = if inside(x, y) {
                200 - (x.abs_diff(ball_x) + y.abs_diff(ball_y)) / 2
            } else if y > hills {
                60 + (y - hills) / 5 + ((x + number * 6) / 16 + y / 16) % 2 * 12
            } else {
                150 + (HEIGHT - y) / 12
            };
            let grain = (random.bits() & 7) as usize;
            data.push((light + grain).clamp(16, 235) as u8);
        }
    }
    for plane in 0..2 {
        for y in (0..HEIGHT).step_by(2) {
            for x in (0..WIDTH).step_by(2) {
                let ball = inside(x, y);
                data.push(match (plane, ball) {
                    (0, true) => 90,
                    (0, false) => 128 + ((HEIGHT - y) / 16) as u8,
                    (_, true) => 190,
                    (_, false) => 120,
                });
            }
        }
    }
    data
}

/// A wave of straight lines between 0 and half its period.
fn triangle(at: usize, period: usize) -> usize {
    let within = at % period;
    within.min(period - within)
}

#[cfg(test)]
mod tests {
    use super::*;
    use openh264::formats::YUVSource;

    #[test]
    fn every_frame_of_the_clip_comes_back_nearly_as_it_was() {
        let clip = Clip::make(1).unwrap();
        assert_eq!(clip.packets.len(), FRAMES);
        let mut decoder = openh264::decoder::Decoder::new().unwrap();
        for (number, packet) in clip.packets.iter().enumerate() {
            let frame = decoder.decode(packet).unwrap().unwrap();
            let stride = frame.strides().0;
            let right = picture(number, 1);
            let mut off = 0u64;
            for y in 0..HEIGHT {
                for x in 0..WIDTH {
                    off += u64::from(frame.y()[y * stride + x].abs_diff(right[y * WIDTH + x]));
                }
            }
            let mean = off as f64 / (WIDTH * HEIGHT) as f64;
            assert!(mean < 6.0, "frame {number} is {mean} away");
        }
    }
}
