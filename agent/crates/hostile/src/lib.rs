//! Damaged input for everything that reads what others wrote: small whole pieces lie in
//! `corpora`, each test damages them as a seed says, and what reads them must take or refuse
//! every one, without a panic and without an end that does not come.
//!
//! `PENTATHLON_HOSTILE` is the number of pieces of each test and `PENTATHLON_HOSTILE_SEED` the seed:
//!
//! ```sh
//! PENTATHLON_HOSTILE=2000000 cargo test --release --lib hostile -- --nocapture --test-threads 1
//! ```
//!
//! What fails is named by its seed and its number, from which the piece is made again; once mended, it
//! joins the corpus.

pub use pentathlon_harness::Random;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// Pieces of each test by default: seconds with little optimisation.
const ORDINARY: u64 = 8_000;
/// A piece that takes longer has no end. Most take microseconds.
const ENDLESS: Duration = Duration::from_secs(60);

/// Texts that parsers have stumbled over.
const TOKENS: [&str; 20] = [
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    "\"",
    "\\",
    "\n",
    "\0",
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\"\\ud800\"",
    "\"\\u0000\"",
    "\u{202e}",
    "\u{feff}",
    "[[[[[[[[[[[[[[[[",
];
/// Numbers at the ends of what types hold, and ordinary ones.
const NUMBERS: [&str; 24] = [
    "-1",
    "0",
    "-0.0",
    "1e400",
    "1e308",
    "-1e308",
    "1e-320",
    "1e-9",
    "0.001",
    "0.5",
    "NaN",
    "1",
    "2",
    "7",
    "255",
    "1000",
    "65536",
    "86400",
    "4294967296",
    "1e18",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
];
const BYTES: [u8; 11] = [0, 1, 2, 0x0A, 0x22, 0x5B, 0x7F, 0x80, 0xC0, 0xFE, 0xFF];
const WORDS: [u64; 8] = [
    0,
    1,
    0x7FFF,
    0xFFFF,
    1 << 31,
    u32::MAX as u64,
    1 << 63,
    u64::MAX,
];

/// The pieces of a folder of `corpora` whose names end so, in the order of their names.
pub fn corpus(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpora")
        .join(folder);
    let mut files: Vec<_> = std::fs::read_dir(&place)
        .expect("the corpus is there")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} holds no {ending}", place.display());
    files
        .iter()
        .map(|file| std::fs::read(file).expect("it can be read"))
        .collect()
}

pub fn one_of<'a, T>(all: &'a [T], random: &mut Random) -> &'a T {
    &all[random.below(all.len())]
}

/// One of the pieces with none to five changes: bits, bytes, numbers, cuts, copies, texts, and parts
/// of other pieces. In half of them numbers alone change, so that they still have a right form.
pub fn damaged(pieces: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut piece = one_of(pieces, random).clone();
    let gentle = random.below(2) == 0;
    for _ in 0..random.below(6) {
        let at = random.below(piece.len() + 1);
        let length = (*one_of(&[1, 2, 4, 8, 60], random)).min(piece.len() - at);
        let change = match gentle {
            false => random.below(9),
            true if piece.is_ascii() => 7,
            true => 2,
        };
        match change {
            0 if length > 0 => piece[at] ^= 1 << random.below(8),
            1 if length > 0 => piece[at] = *one_of(&BYTES, random),
            // In records and headers most numbers lie at multiples of their size.
            2 => {
                let at = at - if gentle { at % length.clamp(1, 8) } else { 0 };
                let word = one_of(&WORDS, random).to_le_bytes();
                piece[at..at + length.min(8)].copy_from_slice(&word[..length.min(8)]);
            }
            3 => drop(piece.drain(at..at + length)),
            4 => {
                let copy = piece[at..at + length].to_vec();
                piece.splice(at..at, copy);
            }
            5 => piece.truncate(at),
            6 => {
                let token = one_of(&TOKENS, random).bytes();
                piece.splice(at..at, token);
            }
            7 => {
                // In place of a number.
                let digit = |byte: &u8| byte.is_ascii_digit() || b"-.e".contains(byte);
                let Some(start) = piece[at..].iter().position(u8::is_ascii_digit) else {
                    continue;
                };
                let start = at + start;
                let end = piece[start..].iter().position(|b| !digit(b));
                let end = end.map_or(piece.len(), |end| start + end);
                piece.splice(start..end, one_of(&NUMBERS, random).bytes());
            }
            _ => {
                let other = one_of(pieces, random);
                let from = random.below(other.len() + 1);
                let to = (from + random.below(40)).min(other.len());
                piece.splice(at..at + length, other[from..to].iter().copied());
            }
        }
    }
    piece
}

fn requested(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} is '{text}', it must be a whole number"))
    })
}

/// Names the piece that a panic came from.
struct Named<'a>(&'a str, u64, u64);

impl Drop for Named<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}: piece {} of the seed {}", self.0, self.2, self.1);
        }
    }
}

/// Calls `take` with as many sources of damage as are requested; it says whether what it made was
/// taken. Both must happen: else nothing was tried.
pub fn attack(kind: &'static str, mut take: impl FnMut(&mut Random) -> bool) {
    let (count, seed) = (
        requested("PENTATHLON_HOSTILE", ORDINARY),
        requested("PENTATHLON_HOSTILE_SEED", 19),
    );
    let (done, over) = (
        Arc::new(AtomicU64::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let (at, ended) = (Arc::clone(&done), Arc::clone(&over));
    let watch = std::thread::spawn(move || {
        let mut before = u64::MAX;
        while !ended.load(Ordering::Acquire) {
            std::thread::park_timeout(ENDLESS);
            let now = at.load(Ordering::Acquire);
            if now == before && !ended.load(Ordering::Acquire) {
                // Not by eprintln, whose text the test's end would have to print.
                writeln!(
                    std::io::stderr(),
                    "{kind}: piece {now} of the seed {seed} does not end"
                )
                .ok();
                std::process::abort();
            }
            before = now;
        }
    });
    let mut taken = 0;
    for number in 0..count {
        let named = Named(kind, seed, number);
        let mut random = Random::new(seed << 40 ^ number);
        taken += u64::from(take(&mut random));
        drop(named);
        done.store(number + 1, Ordering::Release);
    }
    over.store(true, Ordering::Release);
    watch.thread().unpark();
    watch.join().expect("it only looks");
    println!(
        "{kind}: {count} pieces, {taken} taken, {} refused",
        count - taken
    );
    assert!(
        0 < taken && taken < count,
        "{kind}: {taken} of {count} were taken"
    );
}
