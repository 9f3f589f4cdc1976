//! Text: words of an invented language, drawn by G. K. Zipf's law, in sentences and paragraphs.

use pentathlon_harness::Random;

const VOCABULARY: usize = 12_000;
const ONSETS: [&str; 16] = [
    "", "b", "c", "d", "f", "g", "l", "m", "n", "p", "r", "s", "t", "th", "st", "pr",
];
const NUCLEI: [&str; 8] = ["a", "e", "i", "o", "u", "ea", "e", "o"];
const CODAS: [&str; 8] = ["", "", "n", "r", "s", "t", "l", "nd"];

/// Exactly `bytes` bytes of text. Deflate makes 36 % of it, as of English prose.
pub fn text(bytes: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let words = vocabulary(&mut random);
    let ranks = Ranks::new();
    let mut text = Vec::with_capacity(bytes + 64);
    let mut sentence = 0;
    let mut recent: Vec<usize> = Vec::new();
    while text.len() < bytes {
        // Writers repeat themselves: some words come from what was said just before.
        let word = if recent.len() > 8 && random.unit() < 0.2 {
            recent[recent.len() - 2 - random.below(7)]
        } else {
            ranks.draw(&mut random)
        };
        recent.push(word);
        let start = text.len();
        text.extend_from_slice(words[word].as_bytes());
        if sentence == 0 {
            text[start] = text[start].to_ascii_uppercase();
        }
        sentence += 1;
        if sentence > 4 && random.unit() < 0.08 {
            sentence = 0;
            text.extend_from_slice(if random.unit() < 0.15 {
                b".\n\n"
            } else {
                b". "
            });
        } else if random.unit() < 0.08 {
            text.extend_from_slice(b", ");
        } else {
            text.push(b' ');
        }
    }
    text.truncate(bytes);
    text
}

/// Words of one to four syllables; the frequent ones are short.
fn vocabulary(random: &mut Random) -> Vec<String> {
    let mut words: Vec<String> = Vec::with_capacity(VOCABULARY);
    let mut known = std::collections::BTreeSet::new();
    while words.len() < VOCABULARY {
        let rank = words.len();
        let syllables =
            1 + usize::from(rank > 80) + random.below(2) + random.below(1 + rank / 4000);
        let mut word = String::new();
        for _ in 0..syllables {
            word += ONSETS[random.below(ONSETS.len())];
            word += NUCLEI[random.below(NUCLEI.len())];
            word += CODAS[random.below(CODAS.len())];
        }
        if known.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}

/// Zipf's law: the word of rank r is drawn with a share of 1/(r + 2) (B. Mandelbrot's form).
struct Ranks(Vec<f64>);

impl Ranks {
    fn new() -> Self {
        let mut sum = 0.0;
        let mut ends = Vec::with_capacity(VOCABULARY);
        for rank in 0..VOCABULARY {
            sum += 1.0 / (rank as f64 + 2.0);
            ends.push(sum);
        }
        Self(ends)
    }

    fn draw(&self, random: &mut Random) -> usize {
        let at = random.unit() * self.0[VOCABULARY - 1];
        self.0.partition_point(|&end| end <= at).min(VOCABULARY - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_text_of_exactly_the_size() {
        assert_eq!(text(10_000, 1), text(10_000, 1));
        assert_ne!(text(10_000, 1), text(10_000, 2));
        assert_eq!(text(10_001, 1).len(), 10_001);
        assert!(text(10_000, 1).is_ascii());
    }

    #[test]
    fn the_second_most_frequent_word_is_about_two_thirds_as_frequent_as_the_first() {
        let ranks = Ranks::new();
        let mut random = Random::new(3);
        let mut counts = [0.0; 8];
        for _ in 0..100_000 {
            let rank = ranks.draw(&mut random);
            if rank < 8 {
                counts[rank] += 1.0;
            }
        }
        for rank in 1..8 {
            let expected = 2.0 / (rank as f64 + 2.0);
            let share: f64 = counts[rank] / counts[0];
            assert!(
                (share - expected).abs() < 0.06,
                "{rank}: {share} {expected}"
            );
        }
    }
}
