//! Music: chords of plucked strings with overtones, a bass line and a beat of noise, panned and
//! mixed to 16-bit stereo at 44.1 kHz.

use pentathlon_harness::Random;

pub const RATE: u32 = 44_100;
pub const CHANNELS: usize = 2;

/// Scale degrees as ratios (just intonation), and chords on them.
const SCALE: [f64; 7] = [
    1.0,
    9.0 / 8.0,
    5.0 / 4.0,
    4.0 / 3.0,
    3.0 / 2.0,
    5.0 / 3.0,
    15.0 / 8.0,
];

/// One string that is sounding.
struct Note {
    /// Turns of the wave so far and for each sample.
    phase: f64,
    step: f64,
    level: f64,
    decay: f64,
    /// Share of the right channel.
    right: f64,
}

/// Interleaved samples of `frames` moments.
pub fn music(frames: usize, seed: u64) -> Vec<i16> {
    let mut random = Random::new(seed);
    let mut notes: Vec<Note> = Vec::new();
    let beat = RATE as usize / 4;
    let mut samples = Vec::with_capacity(frames * CHANNELS);
    let (mut drum, mut last_noise) = (0.0, 0.0);
    let mut root = 0;
    for frame in 0..frames {
        if frame % beat == 0 {
            let bar = frame / beat;
            if bar.is_multiple_of(8) {
                root = random.below(7);
            }
            drum = if bar % 4 == 2 { 0.12 } else { 0.05 };
            strike(&mut notes, bar, root, &mut random);
        }
        let (mut left, mut right) = (0.0, 0.0);
        for note in &mut notes {
            note.phase += note.step;
            note.phase -= f64::from(u8::from(note.phase >= 1.0));
            note.level *= note.decay;
            // Overtones die sooner than the string's own tone.
            let bright = note.level * note.level;
            let tone = note.level * sine(note.phase)
                + 0.5 * bright * sine(fraction(2.0 * note.phase))
                + 0.3 * bright * note.level * sine(fraction(3.0 * note.phase));
            left += tone * (1.0 - note.right);
            right += tone * note.right;
        }
        // Noise through a low-pass, struck with the beat; and a room that is never silent.
        last_noise += 0.3 * (random.unit() * 2.0 - 1.0 - last_noise);
        drum *= 0.9995;
        let noise = last_noise * (drum + 0.0005);
        for value in [left * 0.16 + noise, right * 0.16 + noise] {
            let scaled = (value * 32_767.0).clamp(-32_768.0, 32_767.0);
            samples.push(scaled as i16);
        }
    }
    samples
}

/// Starts the notes of one beat and forgets those that have died away.
fn strike(notes: &mut Vec<Note>, bar: usize, root: usize, random: &mut Random) {
    notes.retain(|note| note.level > 1e-3);
    let mut play = |hertz: f64, level: f64, seconds: f64, right: f64| {
        notes.push(Note {
            phase: 0.0,
            step: hertz / f64::from(RATE),
            level,
            decay: 1.0 - 1.0 / (seconds * f64::from(RATE)),
            right,
        });
    };
    if bar.is_multiple_of(4) {
        play(55.0 * SCALE[root], 1.0, 0.9, 0.5);
    }
    for third in 0..3 {
        if random.unit() < 0.4 {
            let degree = root + 2 * third;
            let octave = if degree >= 7 { 2.0 } else { 1.0 };
            let level = 0.4 + 0.5 * random.unit();
            play(
                220.0 * octave * SCALE[degree % 7],
                level,
                0.4,
                random.unit(),
            );
        }
    }
}

fn fraction(x: f64) -> f64 {
    x - f64::from(x as i32)
}

/// sin(2πx) for x from 0 to below 1, by Bhāskara's quotient to within 0.2 %: the mathematical
/// library's last bits differ between systems.
fn sine(turns: f64) -> f64 {
    let (x, sign) = if turns < 0.5 {
        (turns, 1.0)
    } else {
        (turns - 0.5, -1.0)
    };
    let product = x * (0.5 - x);
    sign * 16.0 * product / (1.25 - 4.0 * product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sine_is_near_the_librarys() {
        for i in 0..1000 {
            let turns = f64::from(i) / 1000.0;
            let exact = (std::f64::consts::TAU * turns).sin();
            assert!((sine(turns) - exact).abs() < 0.002, "{turns}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_music_and_it_is_loud_and_not_clipped() {
        let samples = music(88_200, 3);
        assert_eq!(samples, music(88_200, 3));
        assert_ne!(samples, music(88_200, 4));
        let loudest = samples.iter().map(|s| s.unsigned_abs()).max();
        assert!(matches!(loudest, Some(5_000..=32_766)), "{loudest:?}");
        // The channels differ: it is stereo.
        assert!(samples.chunks_exact(2).filter(|f| f[0] != f[1]).count() > 40_000);
    }
}
