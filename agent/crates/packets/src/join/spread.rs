//! The delays of a flow by sequence: their quantiles, and the steps between neighbours.

use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;

/// Bits of a delay's order that classes keep: sign, exponent and ten of the fraction.
const CLASS_BITS: u32 = 22;

/// One delay a sequence, in s, and how many there are of each class.
pub struct Delays {
    values: Vec<f64>,
    came: Vec<u64>,
    classes: Vec<u32>,
    /// The first delay. Classes are of the differences from it, since clocks that are apart by
    /// hours would leave all delays in one class.
    origin: Option<f64>,
    count: u64,
}

/// What is reported of the delays, in s.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Spread {
    /// The delays at the shares requested; none where there are too few.
    quantiles: Vec<Option<f64>>,
    /// Sum of the absolute differences of the delays of adjacent sequences (RFC 3393).
    adjacent: f64,
    adjacent_count: u64,
}

/// Place of a quantile by nearest rank in `count` values in order (RFC 7679, section 5.1); none
/// if fewer than one value lies beyond it.
pub fn rank(count: u64, share: f64) -> Option<u64> {
    if count == 0 || (count as f64 * (1.0 - share) < 1.0 && share > 0.5) {
        return None;
    }
    Some((count - 1).min(((share * count as f64).ceil() as u64).saturating_sub(1)))
}

/// The class of a value; those of larger values are not smaller.
#[inline]
fn class_of(value: f64) -> usize {
    let bits = value.to_bits();
    let ordered = bits ^ ((((bits as i64) >> 63) as u64) | 1 << 63);
    (ordered >> (64 - CLASS_BITS)) as usize
}

impl Delays {
    /// Room for the sequences below `count`.
    pub fn new(count: u64) -> Self {
        let count = usize::try_from(count).expect("they lie in memory already");
        Self {
            values: vec![0.0; count],
            came: vec![0; count.div_ceil(64)],
            classes: vec![0; 1 << CLASS_BITS],
            origin: None,
            count: 0,
        }
    }

    #[inline]
    pub fn has(&self, sequence: u64) -> bool {
        let place = sequence as usize;
        self.came[place / 64] >> (place % 64) & 1 == 1
    }

    #[inline]
    pub fn add(&mut self, sequence: u64, delay: f64) {
        let place = sequence as usize;
        self.values[place] = delay;
        self.came[place / 64] |= 1 << (place % 64);
        let origin = *self.origin.get_or_insert(delay);
        self.classes[class_of(delay - origin)] += 1;
        self.count += 1;
    }

    /// Looks at all delays, in as many threads as there are CPUs.
    pub fn spread(&self, shares: &[f64]) -> Spread {
        let places: Vec<_> = shares.iter().map(|&s| rank(self.count, s)).collect();
        let classes: Vec<_> = places.iter().map(|&p| Some(self.class_at(p?))).collect();
        let mut wanted = vec![false; 1 << CLASS_BITS];
        for (class, _) in classes.iter().flatten() {
            wanted[*class] = true;
        }
        let mut parts = self.parts(&wanted);
        let mut values = Vec::new();
        for part in &mut parts {
            values.append(&mut part.values);
        }
        values.sort_unstable_by(f64::total_cmp);
        let origin = self.origin.unwrap_or(0.0);
        Spread {
            quantiles: places
                .iter()
                .zip(classes)
                .map(|(place, class)| {
                    let (class, before) = class?;
                    let first = values.partition_point(|v| class_of(v - origin) < class);
                    values.get(first + ((*place)? - before) as usize).copied()
                })
                .collect(),
            adjacent: parts.iter().map(|part| part.adjacent).sum(),
            adjacent_count: parts.iter().map(|part| part.count).sum(),
        }
    }

    /// The class of the delay at a place in order, and how many delays are in classes below.
    fn class_at(&self, place: u64) -> (usize, u64) {
        let mut before = 0;
        for (class, &count) in self.classes.iter().enumerate() {
            if before + u64::from(count) > place {
                return (class, before);
            }
            before += u64::from(count);
        }
        unreachable!("a place lies below the count")
    }

    fn parts(&self, wanted: &[bool]) -> Vec<Part> {
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        let each = self.came.len().div_ceil(threads).max(1) * 64;
        std::thread::scope(|scope| {
            let running: Vec<_> = (0..self.values.len())
                .step_by(each)
                .map(|start| start..(start + each).min(self.values.len()))
                .map(|range| scope.spawn(move || self.part(range, wanted)))
                .collect();
            running
                .into_iter()
                .map(|thread| thread.join().expect("it only reads"))
                .collect()
        })
    }

    /// The delays of some sequences, and the first one's step from the sequence before.
    fn part(&self, range: Range<usize>, wanted: &[bool]) -> Part {
        let mut part = Part::default();
        let origin = self.origin.unwrap_or(0.0);
        let mut before = range
            .start
            .checked_sub(1)
            .filter(|&place| self.has(place as u64))
            .map(|place| self.values[place]);
        for place in range {
            if !self.has(place as u64) {
                before = None;
                continue;
            }
            let value = self.values[place];
            if wanted[class_of(value - origin)] {
                part.values.push(value);
            }
            if let Some(before) = before.replace(value) {
                part.adjacent += (value - before).abs();
                part.count += 1;
            }
        }
        part
    }
}

#[derive(Default)]
struct Part {
    /// Delays of the wanted classes.
    values: Vec<f64>,
    adjacent: f64,
    count: u64,
}
